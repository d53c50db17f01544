#include "client/joint_acquire.hpp"

#include "client/after_commit.hpp"
#include "client/history_lines.hpp"
#include "model/names.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

// As a worker's limit: more rounds than this mean that rivals never pause.
constexpr int joint_rounds_at_most = 12;
// One failure may be an old connection that broke in the pool; two mean that the database cannot be reached.
constexpr int joint_failures_at_most = 2;

}  // namespace

struct joint_acquire::round {
  engine& on;
  std::shared_ptr<client_layer::lease> lease;  // null: there is none yet, and nothing is sent
  std::vector<acquire_terms> wishes;           // in name order
  bool all = false;
  bool looks = false;  // only finds what an earlier round got whose answer was lost
  std::vector<ids_in_use::mark> in_use{};
  std::vector<store::edit_result> results{};
  std::vector<decision> made{};
  std::vector<hold_ptr> holds{};  // of the first wishes
  std::uint64_t checks = 0;       // see hold_registry::add

  // Runs in a worker's thread.
  void run(store::session& session) {
    if (!lease) return;
    checks = on.holds().checks();
    if (looks) return find(session);
    std::vector<store::edit_request> requests;
    for (const auto& wish : wishes) requests.push_back({wish.definition.name, wish.hold, {}});
    const std::chrono::microseconds skew = on.shared().skew();
    results = session.edit_together(requests, [&](auto outcomes, auto views) {
      made = decide_acquire_together(outcomes, views, wishes, all, skew);
      std::vector<store::lock_change> changes;
      for (std::size_t i = 0; i < made.size(); ++i) {
        record(on.shared(), wishes[i].definition.name, views[i], made[i].change);
        changes.push_back(made[i].change);
      }
      return changes;
    });
    do_after_commit(session);
    for (std::size_t i = 0; i < made.size() && made[i].outcome.result == what::granted; ++i) {
      const auto& change = made[i].change;
      take(i, made[i].outcome.token, made[i].outcome.weight, change.row && change.row->has_queue);
    }
  }

  // Only reads, so it finds a grant even while somebody has the row locked.
  void find(store::session& session) {
    std::vector<store::hold_query> queries;
    for (const auto& wish : wishes) queries.push_back({wish.definition.name, wish.hold});
    const auto found = session.find(queries);
    if (!found.empty() && found.front().state == store::hold_status::where::held)
      session.make_durable(lease->id());
    for (std::size_t i = 0; i < found.size() && found[i].state == store::hold_status::where::held; ++i) {
      const auto& wish = wishes[i];
      const bool shared = wish.mode == model::lock_mode::shared;
      take(i, found[i].token, shared ? wish.weight : wish.definition.capacity, found[i].has_queue);
    }
  }

  void do_after_commit(store::session& session) {
    after_commit todo{checks};
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      if (results[i] == store::edit_result::missing) todo.add_missing(wishes[i].definition);
      todo.add(on.parts(), wishes[i].definition.name, made[i]);
    }
    todo.run(on.shared(), [&](auto work) { return work(session); });
  }

  void take(std::size_t i, model::token token, std::int64_t weight, bool contended) {
    if (i > holds.size()) return;
    const auto& wish = wishes[i];
    auto hold = on.parts().complete.make_hold({wish.definition, wish.hold, token, lease, wish.mode, weight},
                                              checks, contended);
    if (!hold) return;
    holds.push_back(std::move(hold));
    on.shared().count.acquired.fetch_add(1, std::memory_order_relaxed);
  }

  enum class state { granted, busy, again, locked, lapsed };

  // Why requests were not granted. If the caller waits, only the first of them counts, because the caller
  // continues with that one. Throws error(mismatch).
  state what_is_missing() const {
    bool locked = false;
    bool again = false;
    bool busy = false;
    bool first = true;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto& decided = made[i].outcome;
      if (decided.result == what::granted) {
        if (i >= holds.size()) return state::lapsed;
        continue;
      }
      if (decided.result == what::mismatch) throw mismatch(wishes[i].definition, decided.stored);
      if (!all && !std::exchange(first, false)) continue;
      if (results[i] == store::edit_result::skipped) {
        locked = true;
      } else if (results[i] == store::edit_result::missing || decided.must_retry()) {
        again = true;
      } else if (decided.result == what::busy) {
        busy = true;
      }
    }
    return busy ? state::busy : again ? state::again : locked ? state::locked : state::granted;
  }

  // Releases whatever the round has, because nobody waits for it any more, or its outcome is unknown.
  void withdraw() const {
    for (const auto& hold : holds) {
      hold->begin_release();
      on.holds().remove(*hold);
    }
    withdraw_from(0);
  }
  // The same for the wishes from `first` on, for which no hold was made.
  void withdraw_from(std::size_t first) const {
    if (!lease) return;
    std::vector<release_ptr> operations;
    for (std::size_t i = first; i < wishes.size(); ++i) {
      operations.push_back(withdrawal_of(wishes[i].definition.name, wishes[i].hold, lease));
    }
    on.parts().queue.submit(operations);
  }
};

joint_acquire::joint_acquire(engine& on, std::vector<model::lock_request> wanted, const wait_limit& how_long,
                             const acquire_options& how)
    : engine_(on), wanted_(std::move(wanted)), how_long_(how_long), how_(how) {
  const auto limit = how_long_.waits ? how_long_.limit : engine_.shared().longest_call();
  if (limit) until_ = later(engine_.shared().time.now(), *limit);
}

joint_acquire::~joint_acquire() {
  release_all({});
}

std::vector<hold_ptr> joint_acquire::run() {
  engine_.check_usable();
  engine_.check_room(wanted_.size());
  model::check_hold_times(how_.ttl, how_.min_hold);
  engine_.start_keeper();
  for (;;) {
    if (is_over()) return nothing();
    switch (take_what_is_free()) {
      case progress::over: return nothing();
      case progress::busy: {
        if (!how_long_.waits) return {};
        const auto& next = wanted_[holds_.size()];
        auto left = how_long_;
        if (until_) left.limit = *until_ - engine_.shared().time.now();
        auto held = engine_.acquire(next, left, {.detect_deadlock = how_.detect_deadlock, .stop = how_.stop});
        if (!held) return {};
        holds_.push_back(std::move(held));
        break;
      }
      case progress::all: {
        if (stand() && !move_to_own_leases()) return nothing();
        if (stand() && !moving_) return std::exchange(holds_, {});
        // While the call waited for others, a hold was released by force, or the lease ran out.
        release_all(engine_.shared().time.now() + engine_.shared().settings.close_timeout);
        break;
      }
    }
  }
}

bool joint_acquire::stand() const {
  return std::ranges::all_of(holds_, [](const hold_ptr& hold) { return hold->is_valid(); });
}

bool joint_acquire::move_to_own_leases() {
  if (!how_.ttl) {
    if (how_.min_hold <= 0ms) return true;
    const auto keep_until = engine_.shared().time.now() + how_.min_hold;
    for (const auto& hold : holds_) hold->set_keep_until(keep_until);
    return true;
  }
  auto probe = row_probe();
  auto reconnect = reconnect_pause();
  int failures = 0;
  moving_ = std::make_shared<joint_move>(engine_, wanted_, holds_, *how_.ttl, how_.min_hold);
  for (;;) {
    try {
      const auto task =
          engine_.tasks().begin([moving = moving_](store::session& session) { moving->run(session); },
                                [moving = moving_] { moving->drop_moved(); });
      if (!engine_.tasks().await(task, until_, how_.stop)) return false;
    } catch (const error& failure) {
      if (!failure.transient() || (!how_long_.waits && ++failures == joint_failures_at_most)) throw;
      if (!sleep(reconnect.next())) return false;
      continue;
    }
    switch (moving_->outcome()) {
      case joint_move::result::moved:
        holds_ = moving_->moved();
        moving_.reset();
        engine_.check_deadlines();
        return true;
      case joint_move::result::lost: moving_->drop_moved(); return true;
      case joint_move::result::again:
        if (!sleep(probe.next())) return false;
        break;
    }
  }
}

// The result when nothing was granted, as for an acquire of one lock.
std::vector<hold_ptr> joint_acquire::nothing() const {
  if (how_.stop.stop_requested()) {
    if (!how_long_.waits || how_long_.limit) return {};
    throw error(errc::cancelled, "the wait for several locks was stopped");
  }
  if (failure_) std::rethrow_exception(failure_);
  if (!how_long_.waits) throw no_answer(engine_.shared().longest_call());
  return {};
}

std::shared_ptr<joint_acquire::round> joint_acquire::next_round() {
  auto lease = engine_.parts().keeper.lease();
  if (lease && lease != lease_) {
    // Requests on the previous lease have died with it.
    lease_ = lease;
    in_doubt_.reset();
    ids_.resize(wanted_.size());
    make_ids(0);
  }
  if (lease && in_doubt_) {
    auto look = std::make_shared<round>(round{engine_, lease, in_doubt_->wishes, in_doubt_->all, true});
    for (const auto& wish : look->wishes) look->in_use.push_back(engine_.parts().queue.ids().use(wish.hold));
    return look;
  }
  auto next = std::make_shared<round>(round{engine_, lease, {}, !how_long_.waits});
  for (std::size_t i = holds_.size(); lease && i < wanted_.size(); ++i) {
    next->in_use.push_back(engine_.parts().queue.ids().use(ids_[i]));
    next->wishes.push_back({wanted_[i], lease->id(), ids_[i]});
  }
  return next;
}

void joint_acquire::make_ids(std::size_t first) {
  for (; first < ids_.size(); ++first) ids_[first] = model::hold_id::of_this_thread();
}

joint_acquire::progress joint_acquire::take_what_is_free() {
  auto probe = row_probe();
  auto reconnect = reconnect_pause();
  int failures = 0;
  const auto begun = engine_.shared().time.now();
  for (int rounds = 0; holds_.size() < wanted_.size(); ++rounds) {
    const auto asked = next_round();
    try {
      const auto task = engine_.tasks().begin([asked](store::session& session) { asked->run(session); },
                                              [asked] { asked->withdraw(); });
      if (!engine_.tasks().await(task, until_, how_.stop)) return progress::over;
    } catch (const error& failure) {
      // Before anything else is requested, the next round looks by the holds' ids for what this one has done (I7).
      if (!in_doubt_ && asked->lease) in_doubt_ = asked;
      failure_ = std::current_exception();
      if (!failure.transient() || (!how_long_.waits && ++failures == joint_failures_at_most)) throw;
      if (!sleep(reconnect.next())) return progress::over;
      continue;
    }
    failure_ = nullptr;
    if (!asked->lease) {
      if (!sleep(1ms)) return progress::over;
      continue;
    }
    holds_.insert(holds_.end(), asked->holds.begin(), asked->holds.end());
    if (asked->looks) {
      // The rest is withdrawn. A hold behind one that was not found would be out of name order, and what was
      // not found may still be granted.
      asked->withdraw_from(asked->holds.size());
      in_doubt_.reset();
      make_ids(holds_.size());
      continue;
    }
    switch (asked->what_is_missing()) {
      case round::state::granted: break;
      case round::state::lapsed: asked->withdraw(); break;
      case round::state::busy: return progress::busy;
      case round::state::again:
        if (rounds < joint_rounds_at_most) break;
        if (how_long_.waits) return progress::busy;
        if (!sleep(probe.next())) return progress::over;
        break;
      case round::state::locked:
        // A caller that waits continues as for one lock.
        if (how_long_.waits) return progress::busy;
        if (engine_.shared().time.now() > begun + engine_.shared().settings.statement_timeout) {
          return progress::busy;
        }
        if (!sleep(probe.next())) return progress::over;
        break;
    }
  }
  return progress::all;
}

bool joint_acquire::is_over() const {
  return how_.stop.stop_requested() || (until_ && engine_.shared().time.now() >= *until_);
}

// False: the wait is over.
bool joint_acquire::sleep(std::chrono::nanoseconds pause) {
  const auto left = until_ ? *until_ - engine_.shared().time.now() : pause;
  engine_.sleep(std::min(pause, left), how_.stop);
  return !is_over();
}

void joint_acquire::release_all(std::optional<instant> until) noexcept {
  try {
    if (in_doubt_) std::exchange(in_doubt_, nullptr)->withdraw();
    if (moving_) {
      std::exchange(moving_, nullptr)->withdraw();
      holds_.clear();
    }
    std::vector<std::shared_ptr<promised<release_result>>> answers;
    for (const auto& hold : std::exchange(holds_, {})) {
      hold->set_keep_until({});
      answers.push_back(engine_.releaser().begin(*hold));
    }
    if (until_ && until) until = std::min(*until_, *until);
    for (const auto& answer : answers) {
      if (until && answer) engine_.releaser().await(answer, *until);
    }
  } catch (const std::exception& failure) {
    engine_.shared().log(log_level::error, "cannot release the locks that were acquired so far: {}",
                         failure.what());
  }
  lease_.reset();  // so that the next round has ids of its own
}

}  // namespace rowlock::client_layer
