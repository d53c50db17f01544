#include "serve/lock_snapshot.hpp"

#include "cli/glob.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rowlock::serve {

namespace {

constexpr std::size_t page_size = 1000;
constexpr std::size_t most_pages = 100;
constexpr std::size_t most_queues = 200;
// Prometheus stores each label's value as a series of its own, and each chosen name has three.
constexpr std::size_t most_chosen = 1000 / 3;

std::int64_t count_expired(const lock_info& lock, std::set<lease_id>& counted) {
  return std::ranges::count_if(lock.holders, [&](const holder_info& holder) {
    return !holder.rests && holder.expires_in.count() < 0 && counted.insert(holder.lease_id).second;
  });
}

}  // namespace

bool lock_snapshot_reader::is_chosen(const std::string& name) const {
  return std::ranges::any_of(patterns_,
                             [&](const std::string& pattern) { return cli::matches(name, pattern); });
}

void lock_snapshot_reader::add(lock_snapshot& to, const lock_info& lock, std::vector<queued>& queues) const {
  ++to.locks;
  if (lock.in_use > 0) ++to.held;
  const auto waiters = lock.kind == lock_kind::election ? 0 : lock.waiters;
  to.waiters += waiters;
  bool shown = is_chosen(lock.name);
  if (shown && to.chosen.size() == most_chosen) {
    ++to.chosen_cut;
    shown = false;
  }
  if (shown) to.chosen.push_back({.name = lock.name, .in_use = lock.in_use, .waiters = waiters});
  if (waiters > 0) queues.push_back({lock.name, shown});
}

lock_snapshot lock_snapshot_reader::read(database& db) {
  lock_snapshot found;
  std::vector<queued> queues;
  std::set<lease_id> expired;
  std::string after;
  for (std::size_t page = 0;; ++page) {
    found.is_cut = page == most_pages;
    if (found.is_cut) break;
    std::vector<lock_info> locks;
    db.call("list", [&](const client& in) { locks = admin{in}.list(after, page_size); });
    for (const auto& one : locks) {
      add(found, one, queues);
      found.expired_leases += count_expired(one, expired);
    }
    if (locks.size() < page_size) break;
    after = locks.back().name;
  }
  read_queues(db, std::move(queues), found);
  db.call("epoch", [&](const client& in) { found.epoch = admin{in}.epoch(); });
  found.schema_version = db.schema_version();
  return found;
}

void lock_snapshot_reader::read_queues(database& db, std::vector<queued> queues, lock_snapshot& to) {
  std::stable_partition(queues.begin(), queues.end(), [](const queued& one) { return one.is_chosen; });
  if (queues.size() > most_queues) queues.resize(most_queues);
  std::map<hold_id, clock::time_point> seen;
  for (const auto& one : queues) {
    std::vector<waiter_info> waiters;
    db.call("queue", [&](const client& in) { waiters = admin{in}.queue(one.name); });
    const auto now = clock::now();
    std::chrono::milliseconds oldest{0};
    for (const auto& waiter : waiters) {
      if (!waiter.alive) continue;
      const auto known = first_seen_.find(waiter.hold_id);
      const auto since = known == first_seen_.end() ? now : known->second;
      seen[waiter.hold_id] = since;
      oldest = std::max(oldest, std::chrono::duration_cast<std::chrono::milliseconds>(now - since));
    }
    to.oldest_waiter = std::max(to.oldest_waiter, oldest);
    const auto shown = std::ranges::find(to.chosen, one.name, &lock_snapshot::named::name);
    if (shown != to.chosen.end()) shown->oldest_waiter = oldest;
  }
  first_seen_ = std::move(seen);
}

}  // namespace rowlock::serve
