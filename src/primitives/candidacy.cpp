#include "primitives/candidacy.hpp"

#include "client/errors.hpp"
#include "primitives/access.hpp"

#include <rowlock/error.hpp>

#include <utility>

namespace rowlock::primitives {

using client_layer::thrown_text;

// What the executor receives. If the executor drops it, the candidacy must learn of it, because nothing else
// would call it again.
struct candidacy::turn {
  turn() = default;
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    if (of && !taken) of->dropped();
  }
  std::shared_ptr<candidacy> of;  // null: not passed to the executor yet
  bool taken = false;
};

candidacy::candidacy(std::shared_ptr<client_layer::engine> on, model::lock_request office, executor where,
                     candidate_options how)
    : engine_(std::move(on)), office_(std::move(office)), where_(std::move(where)), how_(std::move(how)) {}

// wait_ is set before the wait starts, because its continuation may run before start() returns. close() cannot
// interfere: it waits until no thread is in run().
void candidacy::campaign() {
  const auto next = std::make_shared<turn>();
  const auto wait = std::make_shared<async_acquire>(
      engine_, where_,
      [next](async_acquire& over) {
        next->taken = true;
        next->of->answered(over);
      },
      office_, client_layer::wait_limit{.waits = true}, how_.acquire);
  {
    const model::annotated_lock lock{mutex_};
    wait_ = wait;
  }
  next->of = shared_from_this();
  try {
    wait->start();
  } catch (...) {
    next->taken = true;
    const model::annotated_lock lock{mutex_};
    wait_.reset();
    throw;
  }
}

void candidacy::answered(async_acquire& wait) {
  client_layer::hold_ptr granted;
  std::stop_source end{std::nostopstate};
  std::exception_ptr failure;
  try {
    granted = wait.take();
    end = std::stop_source{};
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const model::annotated_lock lock{mutex_};
    wait_.reset();
    if (!closed_ && !over_) {
      failure_ = failure;
      if (!failure) held_ = std::exchange(granted, nullptr);
      resigns_ = false;
      end_ = end;
    }
  }
  if (granted) engine_->releaser().begin(*granted);
  run();
}

candidate_state candidacy::state() const {
  if (engine_->is_forked()) engine_->check_usable();  // a forked child must not wait for the mutex
  const model::annotated_lock lock{mutex_};
  if (closed_ || over_) return candidate_state::over;
  return told_ && held_ && held_->is_valid() ? candidate_state::leading : candidate_state::waiting;
}

bool candidacy::resign() {
  if (engine_->is_forked()) engine_->check_usable();
  std::stop_source end{std::nostopstate};
  client_layer::async_waiters::posting call;
  {
    const model::annotated_lock lock{mutex_};
    if (closed_ || over_ || !told_ || resigns_ || !held_->is_valid()) return false;
    resigns_ = true;
    end = end_;
    call = std::exchange(resign_call_, {});
  }
  end.request_stop();
  engine_->async().post(std::move(call));
  return true;
}

void candidacy::office_was_lost() noexcept {
  client_layer::async_waiters::posting call;
  {
    const model::annotated_lock lock{mutex_};
    call = std::exchange(loss_call_, {});
  }
  engine_->async().post(std::move(call));
}

// Has the executor run the next step.
client_layer::async_waiters::posting candidacy::next_call() {
  const auto next = std::make_shared<turn>();
  const auto pass = std::make_shared<task>([next] {
    next->taken = true;
    next->of->run();
  });
  return client_layer::async_waiters::posting{[self = weak_from_this(), next, pass] {
    if (const auto alive = self.lock()) alive->call_executor(*next, std::move(*pass));
  }};
}

void candidacy::call_executor(turn& next, task pass) {
  {
    const model::annotated_lock lock{mutex_};
    if (closed_ || over_) return;
  }
  next.of = shared_from_this();
  try {
    where_(std::move(pass));
  } catch (...) {
    engine_->shared().log(log_level::error, "an executor failed, so the candidate for \"{}\" is over: {}",
                          office_.definition.name, thrown_text(std::current_exception()));
  }
}

// The user's functions can no longer be called. A thread that is in run() looks again before it leaves.
void candidacy::dropped() noexcept {
  if (engine_->is_forked()) return;
  try {
    {
      const model::annotated_lock lock{mutex_};
      dropped_ = true;
    }
    run();
  } catch (const std::exception& failure) {
    engine_->shared().log(log_level::error, "releasing the office \"{}\": {}", office_.definition.name,
                          failure.what());
  }
}

bool candidacy::is_runner() const {
  return runner_ == std::this_thread::get_id();
}

// Called after every change of the state. If another thread is in it already, that thread sees the change.
void candidacy::run() {
  {
    const model::annotated_lock lock{mutex_};
    if (runner_) return;
    runner_ = std::this_thread::get_id();
  }
  for (;;) {
    step what = step::none;
    {
      const model::annotated_lock lock{mutex_};
      what = next();
      if (what == step::none) {
        runner_.reset();
        changed_.notify_all();
        return;
      }
    }
    try {
      do_step(what);
    } catch (const std::exception& failure) {
      engine_->shared().log(log_level::error, "the candidate for \"{}\" is over: {}", office_.definition.name,
                            failure.what());
      const model::annotated_lock lock{mutex_};
      dropped_ = true;  // the next step ends it
    }
  }
}

bool candidacy::ends() const {
  return resigns_ || !held_->is_valid();
}

candidacy::step candidacy::next() {
  if (closed_ || over_) return step::none;
  if (dropped_) return step::abandon;
  if (held_) {
    if (ends()) return told_ ? step::lose : step::drop;
    return told_ ? step::none : step::elect;
  }
  if (failure_) return step::fail;
  return wait_ ? step::none : step::campaign;
}

void candidacy::do_step(step what) {
  switch (what) {
    case step::elect: return elect();
    case step::lose: return lose();
    case step::drop: return let_go(false);
    case step::fail: return fail();
    case step::abandon: return abandon();
    case step::campaign: return campaign_again();
    case step::none: return;
  }
}

void candidacy::campaign_again() {
  try {
    campaign();
  } catch (...) {
    const model::annotated_lock lock{mutex_};
    failure_ = std::current_exception();
  }
}

// Returns what ends the term.
std::stop_source candidacy::begin_term() {
  std::stop_source end{std::nostopstate};
  auto loss_call = next_call();
  auto resign_call = next_call();
  {
    const model::annotated_lock lock{mutex_};
    term_ = std::make_unique<term>(access::make<hold>(held_));
    loss_call_ = std::move(loss_call);
    resign_call_ = std::move(resign_call);
    end = end_;
  }
  // Runs on the thread that notifies of losses, or here if the hold is already lost.
  on_loss_.emplace(term_->stop_token(), [weak = weak_from_this(), end]() mutable {
    const auto alive = weak.lock();
    end.request_stop();
    if (alive) alive->office_was_lost();
  });
  const model::annotated_lock lock{mutex_};
  told_ = true;
  return end;
}

void candidacy::elect() {
  std::stop_source end{std::nostopstate};
  try {
    end = begin_term();
  } catch (...) {
    // elected() cannot be called, so the office is given back.
    const model::annotated_lock lock{mutex_};
    failure_ = std::current_exception();
    resigns_ = true;
    return;
  }
  std::exception_ptr thrown;
  try {
    how_.elected(*term_, end.get_token());
  } catch (...) {
    thrown = std::current_exception();
  }
  const model::annotated_lock lock{mutex_};
  failure_ = thrown;
  if (thrown || how_.until_return) resigns_ = true;
}

void candidacy::lose() {
  loss why = loss::none;
  std::stop_source end{std::nostopstate};
  {
    const model::annotated_lock lock{mutex_};
    told_ = false;
    why = held_->loss();
    end = end_;
  }
  end.request_stop();
  try {
    if (how_.lost) how_.lost(why);
  } catch (...) {
    const model::annotated_lock lock{mutex_};
    if (!failure_) failure_ = std::current_exception();
  }
  let_go(true);
}

void candidacy::let_go(bool has_led) {
  client_layer::hold_ptr held;
  {
    const model::annotated_lock lock{mutex_};
    held = std::exchange(held_, nullptr);
    told_ = resigns_ = false;
    if (has_led && !how_.requeue && !failure_) over_ = true;
  }
  on_loss_.reset();
  if (held) engine_->releaser().begin(*held);
  term_.reset();
}

void candidacy::abandon() {
  std::shared_ptr<async_acquire> wait;
  std::stop_source end{std::nostopstate};
  {
    const model::annotated_lock lock{mutex_};
    over_ = true;
    wait = std::exchange(wait_, nullptr);
    end = end_;
  }
  end.request_stop();
  if (wait) wait->abandon();
  let_go(true);
}

void candidacy::fail() {
  std::exception_ptr why;
  {
    const model::annotated_lock lock{mutex_};
    over_ = true;
    why = failure_;
  }
  const auto log = [this](const char* what, const std::exception_ptr& thrown) {
    engine_->shared().log(log_level::error, "{} \"{}\": {}", what, office_.definition.name,
                          thrown_text(thrown));
  };
  try {
    how_.failed ? how_.failed(why) : log("the candidate has failed for", why);
  } catch (...) {
    log("failed() of a candidate has thrown for", std::current_exception());
  }
}

// The first call does all the work. Later calls wait for it, unless they come from within it: from lost(), or
// from a callback of `over`.
void candidacy::close(close_mode mode) {
  if (engine_->is_forked()) return;
  bool is_inside = false;
  {
    model::annotated_lock lock{mutex_};
    const bool first = !std::exchange(closed_, true);
    is_inside = is_runner();
    if (!first) {
      const bool is_within = is_inside || closer_ == std::this_thread::get_id();
      if (!is_within) {
        changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return !runner_ && !closer_; });
      }
      return;
    }
    closer_ = std::this_thread::get_id();
    auto end = end_;
    lock.unlock();
    end.request_stop();
    lock.lock();
    if (!is_inside) changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return !runner_; });
  }
  finish_close(mode, is_inside);
  const model::annotated_lock lock{mutex_};
  closer_.reset();
  changed_.notify_all();
}

void candidacy::finish_close(close_mode mode, bool is_inside) {
  std::shared_ptr<async_acquire> wait;
  client_layer::hold_ptr held;
  bool tells = false;
  {
    const model::annotated_lock lock{mutex_};
    wait = std::exchange(wait_, nullptr);
    held = std::exchange(held_, nullptr);
    tells = std::exchange(told_, false) && mode == close_mode::tell && held;
  }
  if (wait) wait->abandon();
  if (tells && how_.lost) {
    try {
      how_.lost(held->loss());
    } catch (...) {
      engine_->shared().log(log_level::error, "lost() of a candidate for \"{}\" has thrown: {}",
                            office_.definition.name, thrown_text(std::current_exception()));
    }
  }
  if (held) engine_->releaser().release(*held);
  if (is_inside) return;  // the function that called close() may still use term_
  on_loss_.reset();
  term_.reset();
}

}  // namespace rowlock::primitives
