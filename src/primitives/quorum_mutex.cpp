#include <rowlock/error.hpp>
#include <rowlock/quorum_mutex.hpp>

#include "client/base/backoff.hpp"
#include "client/base/stoppable_sleep.hpp"
#include "client/call/acquire_call.hpp"
#include "model/annotated_mutex.hpp"
#include "model/names.hpp"
#include "primitives/quorum_state.hpp"
#include "primitives/standard_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rowlock::primitives {

namespace {

using namespace std::chrono_literals;
using client_layer::engine;
using client_layer::instant;
using client_layer::outcome;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Once a majority has granted the lock, the other members get as much time again as that took, and at least this.
constexpr auto grace_at_least = 20ms;

// The pauses are random, so that rivals that split the votes retry at different times.
client_layer::backoff between_attempts() {
  return {5ms, 250ms};
}

error refused(const std::string& why) {
  return {errc::invalid_argument, why};
}

}  // namespace

class quorum_lock {
 public:
  quorum_lock(std::vector<client> members, std::string name, const quorum_options& settings,
              const lock_options& lock)
      : members_(std::move(members)),
        definition_(defined(std::move(name), model::lock_kind::mutex, 1, lock)) {
    model::check_name(definition_.name);
    count_ = settings.members.value_or(members_.size());
    majority_ = count_ / 2 + 1;
    check_members();
    ttl_ = member(0).environment().settings.ttl;
    for (std::size_t i = 1; i < members_.size(); ++i) {
      ttl_ = std::min<milliseconds>(ttl_, member(i).environment().settings.ttl);
    }
    timeout_ = settings.member_timeout.value_or(ttl_ / 50);
    drift_ = settings.drift.value_or(ttl_ / 100 + 2ms);
    if (timeout_ <= 0ms || drift_ < 0ms) {
      throw refused("member_timeout must be above zero, and drift must not be negative");
    }
    check_times(ttl_);
    by_speed_.resize(members_.size());
    std::iota(by_speed_.begin(), by_speed_.end(), std::size_t{0});
  }

  const std::string& name() const { return definition_.name; }

  // Null: not granted.
  std::unique_ptr<quorum_state> acquire(const wait_limit& how_long, const acquire_options& how) {
    member(0).check_process();  // a forked child must not wait for the mutex
    check_options(how);
    std::optional<instant> until;
    if (how_long.waits && how_long.limit) until = client_layer::later(now(), *how_long.limit);
    auto pause = between_attempts();
    for (;;) {
      if (how.stop.stop_requested()) return stopped(how_long);
      auto tried = attempt(until, how);
      if (tried.granted) return std::move(tried.granted);
      if (how.stop.stop_requested()) return stopped(how_long);
      if (tried.refusal && (!how_long.waits || !tried.refusal->transient())) throw *tried.refusal;
      if (!how_long.waits) return nullptr;
      const auto next = now() + pause.next();
      sleep_until(until ? std::min(*until, next) : next, how.stop);
      if (until && now() >= *until) return nullptr;
    }
  }

 private:
  // Why a member has not voted. Empty: it has granted the lock, or somebody else holds it there.
  using refusal_list = std::vector<std::optional<error>>;
  struct result {
    std::unique_ptr<quorum_state> granted;
    std::optional<error> refusal;  // why no majority was possible
  };

  engine& member(std::size_t i) const { return *access::engine(members_[i]); }
  instant now() const { return member(0).environment().time.now(); }
  // Does not use the pauses of member(0).environment(): if that member is closed, only its vote is missing,
  // and the others are asked again.
  void sleep_until(instant then, const std::stop_token& stop) const {
    client_layer::stoppable_sleep{member(0).environment().time}.sleep_until(then, stop);
  }

  void check_members() const {
    for (auto one = members_.begin(); one != members_.end(); ++one) {
      const auto is_same = [&](const client& other) { return access::engine(other) == access::engine(*one); };
      if (std::any_of(members_.begin(), one, is_same)) {
        throw refused("one client occurs twice; name each database once");
      }
    }
    if (members_.size() >= majority_ && members_.size() <= count_) return;
    throw refused(fmt::format("{} clients for {} databases; {} to {} clients are expected", members_.size(),
                              count_, majority_, count_));
  }

  void check_times(milliseconds ttl) const {
    if (timeout_ > ttl / 10) {
      throw refused(fmt::format("a member_timeout of {} ms is more than a tenth of the ttl of {} ms",
                                timeout_.count(), ttl.count()));
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const milliseconds margin = std::chrono::ceil<milliseconds>(member(i).environment().margin(ttl));
      if (drift_ < ttl - margin - timeout_) continue;
      throw refused(fmt::format(
          "a drift of {} ms leaves no time of a ttl of {} ms: with a member_timeout of {} ms and a "
          "margin of {} ms, it must be below {} ms",
          drift_.count(), ttl.count(), timeout_.count(), margin.count(), (ttl - margin - timeout_).count()));
    }
  }

  void check_options(const acquire_options& how) const {
    if (how.ttl) check_times(*how.ttl);
    if (how.min_hold != 0ms) {
      throw refused("a quorum_mutex has no min_hold: each member would rest on its own");
    }
    if (how.detect_deadlock) {
      throw refused("a quorum_mutex has no detect_deadlock: it has no queue");
    }
  }

  static std::unique_ptr<quorum_state> stopped(const wait_limit& how_long) {
    if (how_long.waits && !how_long.limit) throw error(errc::cancelled, "the wait for a lock was stopped");
    return nullptr;
  }

  result attempt(std::optional<instant> until, const acquire_options& how) {
    auto deadline = now() + timeout_;
    if (until) deadline = std::min(deadline, *until);
    const auto holds = std::make_shared<member_holds>(members_.size());
    const auto refusals = ask(*holds, deadline, how);
    const auto token = agree(holds->all(), until, how.stop);
    if (token && remaining_of_majority(holds->all(), majority_) > drift_) {
      const quorum_state::limits limits{majority_, drift_, timeout_};
      return {std::make_unique<quorum_state>(holds, limits, *token), {}};
    }
    // Waits for the releases, so that the next attempt does not meet the holds of this one.
    auto last = how.stop.stop_requested() ? now() : now() + timeout_;
    if (until) last = std::min(*until, last);
    holds->release(last);
    return {nullptr, refusal_of(refusals)};
  }

  // The requests that were sent and not answered. The destructor withdraws them, and releases what they are granted
  // later.
  struct sent_requests {
    explicit sent_requests(std::size_t members) : of(members) {}
    sent_requests(const sent_requests&) = delete;
    sent_requests& operator=(const sent_requests&) = delete;
    ~sent_requests() {
      for (auto& one : of) {
        if (one) one->drop();
      }
    }
    std::vector<std::optional<client_layer::acquire_call>> of;  // by member
  };

  // Asks all members at once. Waits first for those that answered last time, so a silent member costs only the grace.
  refusal_list ask(member_holds& granted, instant deadline, const acquire_options& how) {
    const auto begun = now();
    refusal_list refusals(members_.size());
    sent_requests sent{members_.size()};
    const auto order = in_order();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      try {
        client_layer::acquire_call made{member(i), {definition_}, {.waits = false}, {.ttl = how.ttl}};
        member(i).start_keeper();
        made.submit();
        sent.of[i].emplace(std::move(made));
      } catch (const error& failure) {
        refusals[i].emplace(client_layer::copy_of(failure));
      }
    }
    std::size_t votes = 0;
    std::optional<instant> agreed;
    for (const auto i : order) {
      if (!sent.of[i]) continue;
      if (votes >= majority_ && !agreed) {
        agreed = now();
        deadline = std::min(deadline, *agreed + std::max<nanoseconds>(*agreed - begun, grace_at_least));
      }
      take(granted[i], refusals[i], *sent.of[i], deadline, how.stop);
      sent.of[i].reset();
      if (granted[i]) ++votes;
    }
    remember(refusals);
    return refusals;
  }

  static void take(hold_ptr& granted, std::optional<error>& refusal, client_layer::acquire_call& sent,
                   instant deadline, const std::stop_token& stop) {
    try {
      if (auto answer = client_layer::wait_until(sent, deadline, stop)) {
        granted = std::move(*answer);
      } else {
        refusal.emplace(errc::unreachable, "it did not answer in time");
      }
    } catch (const error& failure) {
      refusal.emplace(client_layer::copy_of(failure));
    }
  }

  std::vector<std::size_t> in_order() const {
    const model::annotated_lock lock{mutex_};
    return by_speed_;
  }

  // Moves members that did not answer to the end.
  void remember(const refusal_list& refusals) {
    const model::annotated_lock lock{mutex_};
    std::stable_sort(by_speed_.begin(), by_speed_.end(), [&](std::size_t a, std::size_t b) {
      return refusals[a].has_value() < refusals[b].has_value();
    });
  }

  // The highest token of a majority's holds, once a majority has stored it. Empty: there is no majority, or the
  // token could not be stored.
  std::optional<model::token> agree(std::span<const hold_ptr> holds, std::optional<instant> until,
                                    const std::stop_token& stop) const {
    model::token highest = 0;
    std::size_t granted = 0;
    for (const auto& hold : holds) {
      if (!hold) continue;
      ++granted;
      highest = std::max(highest, hold->token());
    }
    if (granted < majority_) return {};
    const auto deadline = until ? std::min(*until, now() + timeout_) : now() + timeout_;
    auto pause = client_layer::row_probe();
    while (!is_written(holds, highest)) {
      if (now() >= deadline || stop.stop_requested()) return {};
      raise(holds, highest, deadline, stop);
      if (is_written(holds, highest)) break;
      sleep_until(std::min(deadline, now() + pause.next()), stop);
    }
    return highest;
  }

  bool is_written(std::span<const hold_ptr> holds, model::token token) const {
    return static_cast<std::size_t>(std::ranges::count_if(
               holds, [&](const hold_ptr& hold) { return hold && hold->token() == token; })) >= majority_;
  }

  // Sends the token once to every member that has a lower one. A late answer is ignored.
  void raise(std::span<const hold_ptr> holds, model::token token, instant deadline,
             const std::stop_token& stop) const {
    std::vector<std::pair<const hold_ptr*, std::shared_ptr<client_layer::edit_task>>> rounds;
    for (const auto& hold : holds) {
      if (!hold || hold->token() == token || !hold->is_valid()) continue;
      try {
        rounds.emplace_back(&hold, hold->engine().tasks().begin_decision(
                                       name(), hold->id(), [id = hold->id(), token](const auto& view) {
                                         return client_layer::decide_raise_token(view, id, token);
                                       }));
      } catch (const error&) {
        // The client is closed, so its hold counts as lost.
      }
    }
    for (const auto& [hold, round] : rounds) {
      try {
        if (!(*hold)->engine().tasks().await(round, deadline, stop)) continue;
      } catch (const error&) {
        continue;
      }
      const auto settled = client_layer::task_executor::outcome_of(*round);
      if (settled && settled->result == outcome::what::granted && settled->token == token) {
        (*hold)->set_mode(model::lock_mode::exclusive, (*hold)->weight(), token);
      }
    }
  }

  // Why no majority was possible; empty if another holder is the reason. A permanent reason comes before others.
  std::optional<error> refusal_of(const refusal_list& refusals) const {
    const error* reason = nullptr;
    std::size_t lasting = 0;
    std::size_t failed = count_ - refusals.size();
    for (const auto& one : refusals) {
      if (!one) continue;
      ++failed;
      if (!one->transient()) ++lasting;
      if (!reason || !one->transient()) reason = &*one;
    }
    if (!reason || count_ - failed >= majority_) return {};
    const auto code = count_ - lasting < majority_ ? reason->kind() : errc::unreachable;
    return error{code,
                 fmt::format("{} of the {} members of \"{}\" did not answer; one of them failed with: {}",
                             failed, count_, name(), reason->what())};
  }

  const std::vector<client> members_;
  const model::lock_definition definition_;
  std::size_t count_ = 0;
  std::size_t majority_ = 0;
  milliseconds ttl_{0};
  milliseconds timeout_{0};
  milliseconds drift_{0};
  mutable model::annotated_mutex mutex_;
  std::vector<std::size_t> by_speed_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

quorum_mutex::quorum_mutex(std::vector<client> members, std::string name, const quorum_options& settings,
                           const lock_options& lock)
    : lock_(std::make_unique<primitives::quorum_lock>(std::move(members), std::move(name), settings, lock)) {}

quorum_mutex::quorum_mutex(quorum_mutex&& other) noexcept = default;
quorum_mutex& quorum_mutex::operator=(quorum_mutex&& other) noexcept = default;
quorum_mutex::~quorum_mutex() = default;

const std::string& quorum_mutex::name() const noexcept {
  return lock_->name();
}

quorum_hold quorum_mutex::acquire(const acquire_options& how) {
  return primitives::access::make<quorum_hold>(lock_->acquire({.waits = true}, how));
}

quorum_hold quorum_mutex::try_acquire(const acquire_options& how) {
  return primitives::access::make<quorum_hold>(lock_->acquire({.waits = false}, how));
}

quorum_hold quorum_mutex::try_acquire_for(time_limit timeout, const acquire_options& how) {
  return primitives::access::make<quorum_hold>(lock_->acquire(primitives::wait_limit_of(timeout), how));
}

ROWLOCK_END_NAMESPACE
