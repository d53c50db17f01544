#include <rowlock/error.hpp>
#include <rowlock/quorum_mutex.hpp>

#include "client/backoff.hpp"
#include "model/names.hpp"
#include "primitives/quorum_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

namespace rowlock::primitives {

namespace {

using namespace std::chrono_literals;
using client_layer::engine;
using client_layer::instant;
using client_layer::outcome;
using client_layer::wait_limit;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Once a majority has granted, the others are given as long as it took, and at least this.
constexpr auto grace_at_least = 20ms;

// Rivals that split the votes ask again at different times.
client_layer::backoff between_attempts() {
  return {5ms, 250ms};
}

error refused(const std::string& why) {
  return {errc::invalid_argument, why};
}

}  // namespace

class quorum_lock {
 public:
  quorum_lock(std::vector<client> members, std::string name, const quorum_options& settings)
      : members_(std::move(members)), definition_{std::move(name), model::lock_kind::mutex, 1} {
    model::check_name(definition_.name);
    count_ = settings.members == 0 ? members_.size() : settings.members;
    majority_ = count_ / 2 + 1;
    check_members();
    ttl_ = member(0).shared().settings.ttl;
    for (std::size_t i = 1; i < members_.size(); ++i) ttl_ = std::min(ttl_, member(i).shared().settings.ttl);
    timeout_ = settings.member_timeout == 0ms ? ttl_ / 50 : settings.member_timeout;
    drift_ = settings.drift == 0ms ? ttl_ / 100 + 2ms : settings.drift;
    if (timeout_ < 0ms || drift_ < 0ms) throw refused("a member_timeout or drift below zero");
    check_timeout(ttl_);
    by_speed_.resize(members_.size());
    std::iota(by_speed_.begin(), by_speed_.end(), std::size_t{0});
  }

  const std::string& name() const { return definition_.name; }

  // Empty: as mutex's.
  std::unique_ptr<quorum_state> acquire(const wait_limit& how_long, const acquire_options& how) {
    check_wish(how);
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
      client_layer::promised<bool>{}.wait(member(0).shared().time, until ? std::min(*until, next) : next,
                                          how.stop);
      if (until && now() >= *until) return nullptr;
    }
  }

 private:
  struct vote {
    hold_ptr hold;  // null: not granted
    std::optional<error> refusal;
  };
  struct result {
    std::unique_ptr<quorum_state> granted;
    std::optional<error> refusal;  // why no majority could have been had
  };

  engine& member(std::size_t i) const { return *members_[i].engine(); }
  instant now() const { return member(0).shared().time.now(); }

  void check_members() const {
    for (auto one = members_.begin(); one != members_.end(); ++one) {
      const auto is_same = [&](const client& other) { return other.engine() == one->engine(); };
      if (std::any_of(members_.begin(), one, is_same)) {
        throw refused("one client is named twice: a majority is one of different databases");
      }
    }
    if (members_.size() >= majority_ && members_.size() <= count_) return;
    throw refused(fmt::format("{} clients for {} databases: a majority of {} must be among them",
                              members_.size(), count_, majority_));
  }

  void check_timeout(milliseconds ttl) const {
    if (timeout_ <= ttl / 10) return;
    throw refused(fmt::format("a member_timeout of {} ms is more than a tenth of the ttl of {} ms",
                              timeout_.count(), ttl.count()));
  }

  void check_wish(const acquire_options& how) const {
    if (how.ttl != 0ms) check_timeout(how.ttl);
    if (how.min_hold != 0ms) {
      throw refused("a quorum_mutex has no min_hold: its members would rest, each by itself");
    }
    if (how.detect_deadlock) {
      throw refused("a quorum_mutex has no detect_deadlock: those who wait for it stand in no queue");
    }
  }

  static std::unique_ptr<quorum_state> stopped(const wait_limit& how_long) {
    if (how_long.waits && !how_long.limit) throw error(errc::cancelled, "the wait for a lock was stopped");
    return nullptr;
  }

  result attempt(std::optional<instant> until, const acquire_options& how) {
    auto deadline = now() + timeout_;
    if (until) deadline = std::min(deadline, *until);
    auto votes = ask(deadline, how);
    std::vector<hold_ptr> holds;
    for (auto& one : votes) holds.push_back(std::move(one.hold));
    const auto token = agree(holds, until, how.stop);
    if (token && remaining_of_majority(holds, majority_) > drift_) {
      return {std::make_unique<quorum_state>(std::move(holds), majority_, drift_, *token), {}};
    }
    // It is awaited, so that the next attempt does not meet what this one has left.
    const auto last = until ? std::min(*until, now() + timeout_) : now() + timeout_;
    release_everywhere(holds, [&](engine&) { return how.stop.stop_requested() ? now() : last; });
    return {nullptr, refusal_of(votes)};
  }

  // All at once. The quickest of the last time are awaited first, so that one that does not answer costs only
  // the grace.
  std::vector<vote> ask(instant deadline, const acquire_options& how) {
    const auto begun = now();
    std::vector<vote> votes(members_.size());
    std::vector<client_layer::acquire_ptr> asked(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      try {
        asked[i] = member(i).begin_acquire(definition_, false, {.ttl = how.ttl});
      } catch (const error& failure) {
        votes[i].refusal.emplace(client_layer::copy_of(failure));
      }
    }
    std::size_t granted = 0;
    std::optional<instant> agreed;
    for (const auto i : in_order()) {
      if (!asked[i]) continue;
      if (granted >= majority_ && !agreed) {
        agreed = now();
        deadline = std::min(deadline, *agreed + std::max<nanoseconds>(*agreed - begun, grace_at_least));
      }
      take(votes[i], i, asked[i], deadline, how);
      if (votes[i].hold) ++granted;
    }
    remember(votes);
    return votes;
  }

  void take(vote& into, std::size_t i, const client_layer::acquire_ptr& asked, instant deadline,
            const acquire_options& how) const {
    try {
      if (auto answer = member(i).await_acquire(asked, deadline, how.stop)) {
        into.hold = std::move(*answer);
      } else {
        into.refusal.emplace(errc::unreachable, "it gave no answer in time");
      }
    } catch (const error& failure) {
      into.refusal.emplace(client_layer::copy_of(failure));
    }
  }

  std::vector<std::size_t> in_order() const {
    const std::lock_guard lock{mutex_};
    return by_speed_;
  }

  // Those that gave no answer go last.
  void remember(const std::vector<vote>& votes) {
    const std::lock_guard lock{mutex_};
    std::stable_sort(by_speed_.begin(), by_speed_.end(), [&](std::size_t a, std::size_t b) {
      return votes[a].refusal.has_value() < votes[b].refusal.has_value();
    });
  }

  // The token of a majority's holds: the highest, written down by that many. Empty: no majority stands, or
  // could be told.
  std::optional<model::token> agree(const std::vector<hold_ptr>& holds, std::optional<instant> until,
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
      client_layer::promised<bool>{}.wait(member(0).shared().time, std::min(deadline, now() + pause.next()),
                                          stop);
    }
    return highest;
  }

  bool is_written(const std::vector<hold_ptr>& holds, model::token token) const {
    return static_cast<std::size_t>(std::count_if(holds.begin(), holds.end(), [&](const hold_ptr& hold) {
             return hold && hold->token() == token;
           })) >= majority_;
  }

  // One round on all members whose token is lower. What is not done then may be done later, and says nothing.
  void raise(const std::vector<hold_ptr>& holds, model::token token, instant deadline,
             const std::stop_token& stop) const {
    std::vector<std::pair<const hold_ptr*, client_layer::task_executor::pending_decision>> rounds;
    for (const auto& hold : holds) {
      if (!hold || hold->token() == token || !hold->is_valid()) continue;
      try {
        rounds.emplace_back(&hold, hold->engine().tasks().begin_decision(
                                       name(), hold->id(), [id = hold->id(), token](const auto& view) {
                                         return client_layer::decide_raise_token(view, id, token);
                                       }));
      } catch (const error&) {
        // It is closed: its hold is lost, and counted as such.
      }
    }
    for (const auto& [hold, round] : rounds) {
      try {
        if (!(*hold)->engine().tasks().await(round.task, deadline, stop)) continue;
      } catch (const error&) {
        continue;
      }
      const auto settled = client_layer::task_executor::outcome_of(round);
      if (settled && settled->result == outcome::what::granted && settled->token == token) {
        (*hold)->become(model::lock_mode::exclusive, (*hold)->weight(), token);
      }
    }
  }

  // Why no majority could be had, if that was not for a holder: the reason that lasts, if there is one.
  std::optional<error> refusal_of(const std::vector<vote>& votes) const {
    const error* reason = nullptr;
    std::size_t lasting = 0;
    std::size_t failed = count_ - votes.size();
    for (const auto& one : votes) {
      if (!one.refusal) continue;
      ++failed;
      if (!one.refusal->transient()) ++lasting;
      if (!reason || !one.refusal->transient()) reason = &*one.refusal;
    }
    if (!reason || count_ - failed >= majority_) return {};
    const auto code = count_ - lasting < majority_ ? reason->code() : errc::unreachable;
    return error{code, fmt::format("{} of the {} members of \"{}\" could not be asked; one said: {}", failed,
                                   count_, name(), reason->what())};
  }

  const std::vector<client> members_;
  const model::lock_definition definition_;
  std::size_t count_ = 0;
  std::size_t majority_ = 0;
  milliseconds ttl_{0};
  milliseconds timeout_{0};
  milliseconds drift_{0};
  mutable std::mutex mutex_;
  std::vector<std::size_t> by_speed_;
};

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

quorum_mutex::quorum_mutex(std::vector<client> members, std::string name, const quorum_options& settings)
    : lock_(std::make_unique<primitives::quorum_lock>(std::move(members), std::move(name), settings)) {}

quorum_mutex::~quorum_mutex() = default;

const std::string& quorum_mutex::name() const noexcept {
  return lock_->name();
}

quorum_hold quorum_mutex::acquire(const acquire_options& how) {
  return quorum_hold{lock_->acquire({.waits = true}, how)};
}

std::optional<quorum_hold> quorum_mutex::try_acquire(const acquire_options& how) {
  auto held = lock_->acquire({.waits = false}, how);
  if (!held) return {};
  return quorum_hold{std::move(held)};
}

std::optional<quorum_hold> quorum_mutex::try_acquire_for(time_limit timeout, const acquire_options& how) {
  if (timeout.length() <= std::chrono::nanoseconds{0}) return try_acquire(how);
  auto held = lock_->acquire({.waits = true, .limit = timeout.length()}, how);
  if (!held) return {};
  return quorum_hold{std::move(held)};
}

quorum_hold::quorum_hold() noexcept = default;
quorum_hold::quorum_hold(std::unique_ptr<primitives::quorum_state> state) noexcept
    : state_(std::move(state)) {}
quorum_hold::quorum_hold(quorum_hold&& other) noexcept = default;
quorum_hold& quorum_hold::operator=(quorum_hold&& other) noexcept = default;
quorum_hold::~quorum_hold() = default;

bool quorum_hold::valid() const noexcept {
  return state_ && state_->is_valid();
}

std::int64_t quorum_hold::token() const noexcept {
  return state_ ? state_->token() : 0;
}

const std::string& quorum_hold::name() const noexcept {
  static const std::string nothing;
  return state_ ? state_->name() : nothing;
}

std::chrono::nanoseconds quorum_hold::remaining() const noexcept {
  return state_ ? state_->remaining() : std::chrono::nanoseconds{0};
}

std::stop_token quorum_hold::stop_token() const noexcept {
  return state_ ? state_->stop_token() : std::stop_token{};
}

rowlock::loss quorum_hold::loss() const noexcept {
  return state_ ? state_->loss() : rowlock::loss::none;
}

std::size_t quorum_hold::size() const noexcept {
  return state_ ? state_->holds().size() : 0;
}

const hold& quorum_hold::member_hold(std::size_t at) const {
  static const std::vector<hold> nothing;
  return (state_ ? state_->holds() : nothing).at(at);
}

release_result quorum_hold::release() {
  return state_ ? state_->release() : release_result::lost;
}

ROWLOCK_END_NAMESPACE
