#include "client/call/joint_acquire.hpp"

#include "model/names.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// As rounds_at_most in slow_path.cpp: more rounds than this mean that rivals never pause.
constexpr int joint_rounds_at_most = 12;
// One failure may be an idle connection that broke; two mean that the database cannot be reached.
constexpr int joint_failures_at_most = 2;

}  // namespace

joint_acquire::joint_acquire(engine& on, const std::vector<model::lock_request>& wanted,
                             const wait_limit& how_long, const acquire_options& how, model::hold_id owner)
    : engine_(on),
      order_(wanted.size()),
      how_long_(how_long),
      how_(how),
      owner_(owner),
      called_at_(on.environment().time.now()) {
  if (wanted.empty()) {
    throw error(errc::invalid_argument, "the list of locks is empty; name at least one lock");
  }
  const auto name_of = [&](std::size_t i) -> const std::string& { return wanted[i].definition.name; };
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, [&](auto a, auto b) { return name_of(a) < name_of(b); });
  const auto twice =
      std::ranges::adjacent_find(order_, [&](auto a, auto b) { return name_of(a) == name_of(b); });
  if (twice != order_.end()) {
    throw error(errc::invalid_argument,
                "\"" + name_of(*twice) + "\" is named twice and would wait for itself");
  }
  for (const auto i : order_) wanted_.push_back(wanted[i]);
  holds_.reserve(wanted_.size());  // so that no hold is lost for lack of memory
  engine_.check_usable();
  engine_.check_may_write();
  room_ = engine_.take_room(wanted_.size());
  model::check_hold_times(how_.ttl, how_.min_hold);
  answer_.note_failure(how_long_.reason_of_silence());
}

void joint_acquire::step() {
  switch (stage_) {
    case stage::asking: return asked();
    case stage::waiting: return waited();
    case stage::moving: return moved();
    case stage::begun:
    case stage::returning: return begin_asking();
  }
}

// ---- asking ----

void joint_acquire::begin_asking() {
  rounds_ = failures_ = 0;
  begun_ = engine_.environment().time.now();
  probe_.reset();
  reconnect_.reset();
  ask();
}

void joint_acquire::ask(std::chrono::nanoseconds pause) {
  stage_ = stage::asking;
  ++rounds_;
  round_ = next_round();
  task_ = engine_.tasks().begin([round = round_](store::session& session) { round->run(session); },
                                [round = round_] { round->withdraw(); }, next_step(), pause);
}

void joint_acquire::asked() {
  const auto round = round_;
  try {
    std::exchange(task_, nullptr)->answer.take();
  } catch (const error& failure) {
    // Before anything else is requested, the next round looks by the holds' ids for what this one has done (I7).
    if (!in_doubt_ && round->lease) in_doubt_ = round;
    round_.reset();
    answer_.note_failure(std::current_exception());
    if (!may_retry(failure)) throw;
    return ask(reconnect_.next());
  }
  if (!round->lease) return ask_without_lease();
  answer_.note_failure({});
  holds_.insert(holds_.end(), round->holds.begin(), round->holds.end());
  room_.resize(wanted_.size() - holds_.size());
  round_.reset();
  if (round->looks) {
    // The rest is withdrawn. A hold behind one that was not found would be out of name order, and what was not
    // found may still be granted.
    round->withdraw_from(round->holds.size());
    in_doubt_.reset();
    make_ids(holds_.size());
  } else {
    const auto missing = round->what_is_missing();
    const bool comes_free = missing == joint_round::state::again;
    if (missing == joint_round::state::lapsed) round->withdraw();
    if (missing == joint_round::state::busy || missing == joint_round::state::locked ||
        (comes_free && rounds_ > joint_rounds_at_most)) {
      // A caller that waits requests the first missing lock by itself, and waits in its queue.
      if (how_long_.waits) return wait_for_next();
      const bool too_long =
          engine_.environment().time.now() > begun_ + engine_.environment().settings.statement_timeout;
      if (missing == joint_round::state::busy || (!comes_free && too_long)) return finish({});
      return ask(probe_.next());
    }
  }
  holds_.size() < wanted_.size() ? ask() : all_are_granted();
}

// Nobody was asked, so no lock is known to be busy, and the round does not count.
void joint_acquire::ask_without_lease() {
  rounds_ = 0;
  begun_ = engine_.environment().time.now();
  const auto why = engine_.services().queue.why_no_lease(called_at_);
  if (!why) return ask(1ms);
  answer_.note_failure(why);
  if (!how_long_.waits || !is_temporary(client_layer::copy_of(why))) std::rethrow_exception(why);
  ask(reconnect_.next());
}

bool joint_acquire::may_retry(const error& failure) {
  return failure.transient() && (how_long_.waits || ++failures_ < joint_failures_at_most);
}

std::shared_ptr<joint_round> joint_acquire::next_round() {
  auto lease = engine_.services().queue.lease();
  if (lease && lease != lease_) {
    // Requests on the previous lease have died with it.
    lease_ = lease;
    in_doubt_.reset();
    ids_.resize(wanted_.size());
    make_ids(0);
  }
  if (lease && in_doubt_) {
    // The round that is in doubt keeps the marks that its ids are in use.
    return std::make_shared<joint_round>(
        joint_round{engine_, lease, in_doubt_->wishes, in_doubt_->all, true, called_at_});
  }
  auto next =
      std::make_shared<joint_round>(joint_round{engine_, lease, {}, !how_long_.waits, false, called_at_});
  for (std::size_t i = holds_.size(); lease && i < wanted_.size(); ++i) {
    next->in_use.push_back(engine_.services().queue.ids().use(ids_[i]));
    next->wishes.push_back({wanted_[i], lease->id(), ids_[i]});
  }
  return next;
}

void joint_acquire::make_ids(std::size_t first) {
  for (; first < ids_.size(); ++first) ids_[first] = owner_.sibling();
}

// ---- waiting ----

void joint_acquire::wait_for_next() {
  stage_ = stage::waiting;
  auto next = std::make_unique<acquire_call>(engine_, wanted_[holds_.size()], wait_limit{.waits = true},
                                             acquire_options{}, owner_.sibling(), room_.split());
  next->operation()->called_at = called_at_;
  next->answer().on_complete(next_step());
  auto& sent = *next;
  {
    const model::annotated_lock lock{mutex_};
    waiting_ = std::move(next);
  }
  sent.submit();
}

void joint_acquire::waited() {
  std::unique_ptr<acquire_call> waited_for;
  {
    const model::annotated_lock lock{mutex_};
    waited_for.swap(waiting_);
  }
  auto granted = waited_for->answer().take();
  if (!granted || !*granted) return finish({});
  holds_.push_back(std::move(*granted));
  holds_.size() < wanted_.size() ? begin_asking() : all_are_granted();
}

// ---- when all are granted ----

bool joint_acquire::stand() const {
  return std::ranges::all_of(holds_, [](const hold_ptr& hold) { return hold->is_valid(); });
}

void joint_acquire::all_are_granted() {
  // While the request waited for other locks, a hold may have been released by force, or the lease may have
  // run out.
  if (!stand()) return begin_anew();
  if (how_.ttl) {
    failures_ = 0;
    probe_.reset();
    reconnect_.reset();
    moving_ = std::make_shared<joint_move>(engine_, wanted_, holds_, *how_.ttl, how_.min_hold);
    return move();
  }
  if (how_.min_hold > 0ms) {
    const auto keep_until = engine_.environment().time.now() + how_.min_hold;
    for (const auto& hold : holds_) hold->set_keep_until(keep_until);
  }
  finish(holds_);
}

void joint_acquire::move(std::chrono::nanoseconds pause) {
  stage_ = stage::moving;
  task_ = engine_.tasks().begin([moving = moving_](store::session& session) { moving->run(session); },
                                [moving = moving_] { moving->drop_moved(); }, next_step(), pause);
}

void joint_acquire::moved() {
  try {
    std::exchange(task_, nullptr)->answer.take();
  } catch (const error& failure) {
    if (!may_retry(failure)) throw;
    return move(reconnect_.next());
  }
  switch (moving_->outcome()) {
    case joint_move::result::again: return move(probe_.next());
    case joint_move::result::lost: moving_->drop_moved(); return begin_anew();
    case joint_move::result::moved: break;
  }
  holds_ = moving_->moved();
  moving_.reset();
  engine_.check_deadlines();
  stand() ? finish(holds_) : begin_anew();
}

void joint_acquire::begin_anew() {
  withdraw_what_is_in_doubt();
  lease_.reset();  // so that the next round has ids of its own
  room_.resize(wanted_.size());
  if (holds_.empty()) return begin_asking();
  stage_ = stage::returning;
  const auto left = std::make_shared<std::atomic<std::size_t>>(holds_.size());
  const auto next = next_step();
  std::vector<release_answer> answers;
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    answers.push_back(std::make_shared<promised<release_result>>());
    answers.back()->on_complete([left, next] {
      if (--*left == 0) next();
    });
  }
  // From here on nothing needs memory.
  for (std::size_t i = 0; i < answers.size(); ++i) {
    holds_[i]->set_keep_until({});
    engine_.releaser().begin(*holds_[i], answers[i]);
  }
  holds_.clear();
}

// ---- the end ----

void joint_acquire::finish(holds granted) {
  room_ = {};
  if (granted.empty()) engine_.environment().count.busy.fetch_add(1, std::memory_order_relaxed);
  holds in_order(granted.size());
  for (std::size_t i = 0; i < granted.size(); ++i) in_order[order_[i]] = granted[i];
  if (answer_.complete(std::move(in_order)) && !granted.empty()) holds_.clear();
  clear();
  end();
}

void joint_acquire::fail(const std::exception_ptr& why) {
  clear();
  answer_.fail(why);
}

// A grant that still comes is released by the thread that learns of it: the worker that runs the task, or the
// thread that completes the wait.
void joint_acquire::clear() noexcept {
  std::unique_ptr<acquire_call> waiting;
  {
    const model::annotated_lock lock{mutex_};
    waiting.swap(waiting_);
  }
  if (waiting) waiting->drop();
  // The task is no longer under way: its result is released here, unless a step has taken it.
  if (!task_ || !task_->answer.give_up()) {
    if (round_) round_->withdraw();
    if (moving_) moving_->drop_moved();
  }
  task_.reset();
  round_.reset();
  withdraw_what_is_in_doubt();
  for (const auto& hold : holds_) engine_.releaser().give_back(*hold);
  holds_.clear();
}

void joint_acquire::withdraw_what_is_in_doubt() noexcept {
  if (in_doubt_) std::exchange(in_doubt_, nullptr)->withdraw();
  if (!moving_) return;
  std::exchange(moving_, nullptr)->withdraw();
  holds_.clear();
}

std::optional<error> joint_acquire::last_failure() const {
  const model::annotated_lock lock{mutex_};
  return waiting_ ? waiting_->answer().last_failure() : answer_.last_failure();
}

}  // namespace rowlock::client_layer
