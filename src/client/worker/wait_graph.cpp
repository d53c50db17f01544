#include "client/worker/wait_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>

namespace rowlock::client_layer {

namespace {

using std::chrono::milliseconds;
using owner = std::uint64_t;

struct wish {
  const contended_lock* at;
  std::size_t place;  // in its queue

  const store::waiter_info& waiter() const { return at->queue[place]; }
  owner who() const { return waiter().waiter.hold.owner(); }
};

class graph {
 public:
  explicit graph(const std::vector<contended_lock>& locks) {
    for (const auto& lock : locks) {
      const auto kind = lock.lock.row.kind;
      if (is_rendezvous(kind) || kind == model::lock_kind::unknown)
        continue;  // it is not known who will arrive there
      for (std::size_t i = 0; i < lock.queue.size(); ++i) {
        if (!lock.queue[i].alive || lock.queue[i].expires_in <= milliseconds{0}) continue;
        wishes_.push_back({&lock, i});
        stuck_.insert(wishes_.back().who());
      }
    }
    bool again = true;
    while (again) {
      again = false;
      for (const auto& one : wishes_) {
        if (is_stuck(one.who()) && !blocker_of(one)) again = stuck_.erase(one.who()) > 0 || again;
      }
    }
  }

  const std::vector<wish>& wishes() const { return wishes_; }
  bool is_stuck(owner who) const { return stuck_.contains(who); }

  // A stuck owner that the request waits for.
  std::optional<owner> blocker_of(const wish& one) const {
    const auto& [lock, queue] = *one.at;
    const auto& wanted = one.waiter().waiter;
    std::int64_t in_use = 0;
    std::optional<owner> holder;
    for (const auto& held : lock.holders) {
      // What rests comes free by itself, whatever the owner of the hold that is over waits for.
      if (model::rests(held.hold, held.lease.id)) continue;
      if (held.expires_in <= milliseconds{0} || !is_stuck(held.hold.owner())) continue;
      in_use += held.weight;
      if (!holder) holder = held.hold.owner();
    }
    const bool shared = wanted.mode == model::lock_mode::shared;
    if (holder && (!shared || in_use + wanted.weight > lock.row.capacity)) return holder;
    if (!lock.row.fair) return {};
    for (std::size_t i = 0; i < one.place; ++i) {
      const auto& before = queue[i];
      if (before.alive && before.expires_in > milliseconds{0} && is_stuck(before.waiter.hold.owner())) {
        return before.waiter.hold.owner();
      }
    }
    return {};
  }

  const wish* wish_of(owner who) const {
    const auto found =
        std::find_if(wishes_.begin(), wishes_.end(), [&](const wish& one) { return one.who() == who; });
    return found == wishes_.end() ? nullptr : &*found;
  }

 private:
  std::vector<wish> wishes_;
  std::unordered_set<owner> stuck_;
};

// Follows the chain of waiters until one of them comes up again.
wait_cycle circle_from(const graph& all, const wish* start) {
  std::vector<const wish*> way;
  for (const auto* at = start; at;) {
    if (const auto before = std::find(way.begin(), way.end(), at); before != way.end()) {
      wait_cycle cycle;
      for (auto member = before; member != way.end(); ++member) {
        cycle.push_back({(*member)->at->lock.row.name, (*member)->waiter()});
      }
      return cycle;
    }
    way.push_back(at);
    const auto next = all.blocker_of(*at);
    at = next ? all.wish_of(*next) : nullptr;
  }
  return {};
}

bool contains(const wait_cycle& cycle, const stuck_waiter& one) {
  return std::any_of(cycle.begin(), cycle.end(), [&](const stuck_waiter& member) {
    return member.name == one.name && member.waiter.waiter.hold == one.waiter.waiter.hold;
  });
}

std::string described(const store::lease_record& who) {
  return fmt::format("{} {} ({})", who.host, who.pid, who.application);
}

}  // namespace

std::vector<contended_lock> read_contended(store::admin_verbs& session) {
  std::vector<contended_lock> result;
  for (const auto& name : session.waited_for()) {
    if (auto lock = read_waiters(session, name)) result.push_back(std::move(*lock));
  }
  return result;
}

std::optional<contended_lock> read_waiters(store::admin_verbs& session, const std::string& name) {
  auto lock = session.show(name);
  if (!lock || lock->waiters == 0) return {};
  return contended_lock{std::move(*lock), session.queue(name)};
}

std::vector<wait_cycle> find_cycles(const std::vector<contended_lock>& locks) {
  const graph all{locks};
  std::vector<wait_cycle> cycles;
  for (const auto& one : all.wishes()) {
    if (!all.is_stuck(one.who())) continue;
    auto cycle = circle_from(all, &one);
    const bool known = std::any_of(cycles.begin(), cycles.end(), [&](const wait_cycle& other) {
      return cycle.empty() || contains(other, cycle.front());
    });
    if (!cycle.empty() && !known) cycles.push_back(std::move(cycle));
  }
  return cycles;
}

bool is_same_cycle(const wait_cycle& a, const wait_cycle& b) {
  return a.size() == b.size() &&
         std::all_of(a.begin(), a.end(), [&](const stuck_waiter& one) { return contains(b, one); });
}

std::string describe(const wait_cycle& cycle) {
  std::string text;
  for (const auto& [name, waiter] : cycle) {
    text += text.empty()
                ? fmt::format("{} waits for \"{}\"", described(waiter.lease), name)
                : fmt::format("; {}, which holds that lock or is ahead in its queue, waits for \"{}\"",
                              described(waiter.lease), name);
  }
  return text;
}

}  // namespace rowlock::client_layer
