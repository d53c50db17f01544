#include "primitives/candidacy.hpp"

#include "client/base/errors.hpp"
#include "primitives/access.hpp"

#include <rowlock/error.hpp>

#include <tuple>
#include <utility>

namespace rowlock::primitives {

using client_layer::thrown_text;

// A part of the task that the executor receives. If the executor drops the task, the candidacy must learn of that,
// because nothing else would make the candidacy go on.
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

// Has the executor run the step that ends the term.
class candidacy::end_call final : public client_layer::executor_call {
 public:
  explicit end_call(const std::shared_ptr<candidacy>& of) : of_(of) {}

  void deliver() noexcept override {
    const auto of = of_.lock();
    if (!of || of->is_over()) return;
    next_->of = of;
    try {
      of->where_(std::move(pass_));
    } catch (...) {
      of->engine_->environment().log(log_level::error,
                                     "an executor failed, so the candidate for \"{}\" is over: {}",
                                     of->office_.definition.name, thrown_text(std::current_exception()));
    }
  }

 private:
  const std::weak_ptr<candidacy> of_;
  const std::shared_ptr<turn> next_ = std::make_shared<turn>();
  task pass_{[next = next_] {
    next->taken = true;
    next->of->wake();
  }};
};

candidacy::candidacy(std::shared_ptr<client_layer::engine> on, model::lock_request office, executor where,
                     candidate_options how)
    : engine_(std::move(on)), office_(std::move(office)), where_(std::move(where)), how_(std::move(how)) {}

// A forked child cannot destroy on_loss_: if its callback ran in the parent at the fork, the destructor would wait for
// ever for the end of that callback.
candidacy::~candidacy() {
  if (engine_->is_forked()) std::ignore = on_loss_.release();
}

// wait_ is set before the wait starts, because its continuation may run before start() returns. close() cannot
// interfere: it waits until no step runs.
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
  next->of = self();
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
    if (!is_over()) {
      failure_ = failure;
      if (!failure) held_ = std::exchange(granted, nullptr);
      resigns_ = false;
      end_ = end;
    }
  }
  if (granted) engine_->releaser().give_back(*granted);
  wake();
}

candidate_state candidacy::state() const {
  engine_->check_process();  // a forked child must not wait for the mutex
  const model::annotated_lock lock{mutex_};
  if (is_over()) return candidate_state::over;
  return told_ && held_ && held_->is_valid() ? candidate_state::leading : candidate_state::waiting;
}

bool candidacy::resign() {
  engine_->check_process();
  std::stop_source end{std::nostopstate};
  std::shared_ptr<end_call> call;
  {
    const model::annotated_lock lock{mutex_};
    if (is_over() || !told_ || resigns_ || !held_->is_valid()) return false;
    resigns_ = true;
    end = end_;
    call = std::exchange(resign_call_, nullptr);
  }
  end.request_stop();
  engine_->async().post(std::move(call));
  return true;
}

void candidacy::office_was_lost() noexcept {
  std::shared_ptr<end_call> call;
  {
    const model::annotated_lock lock{mutex_};
    call = std::exchange(loss_call_, nullptr);
  }
  engine_->async().post(std::move(call));
}

// The executor has dropped a task, so the user's functions can no longer be called.
void candidacy::dropped() noexcept {
  if (!engine_->is_forked()) stop();
}

void candidacy::step() {
  const auto what = next();
  switch (what) {
    case action::elect: elect(); break;
    case action::lose: lose(); break;
    case action::drop: let_go(false); break;
    case action::campaign: campaign_again(); break;
    case action::tell_failure: tell_failure(); break;
    case action::none: return;
  }
  wake();
}

void candidacy::fail(const std::exception_ptr& why) {
  engine_->environment().log(log_level::error, "the candidate for \"{}\" is over: {}",
                             office_.definition.name, thrown_text(why));
  clear();
}

candidacy::action candidacy::next() const {
  const model::annotated_lock lock{mutex_};
  if (held_) {
    const bool ends = resigns_ || !held_->is_valid();
    if (ends) return told_ ? action::lose : action::drop;
    return told_ ? action::none : action::elect;
  }
  if (failure_) return action::tell_failure;
  return wait_ ? action::none : action::campaign;
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
  auto loss_call = std::make_shared<end_call>(self());
  auto resign_call = std::make_shared<end_call>(self());
  {
    const model::annotated_lock lock{mutex_};
    term_ = std::make_unique<term>(access::make<hold>(held_));
    loss_call_ = std::move(loss_call);
    resign_call_ = std::move(resign_call);
    end = end_;
  }
  // The callback runs on the thread that notifies of losses, or here if the hold is already lost.
  on_loss_ = std::make_unique<loss_watch>(term_->stop_token(), [weak = std::weak_ptr{self()}, end]() mutable {
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
    if (has_led && !how_.requeue && !failure_) end();
  }
  on_loss_.reset();
  if (held && has_led) engine_->releaser().begin(*held);
  if (held && !has_led) engine_->releaser().give_back(*held);
  term_.reset();
}

void candidacy::clear() noexcept {
  std::shared_ptr<async_acquire> wait;
  std::stop_source end_of_term{std::nostopstate};
  bool has_led = false;
  end();
  {
    const model::annotated_lock lock{mutex_};
    has_led = told_;
    wait = std::exchange(wait_, nullptr);
    end_of_term = end_;
  }
  end_of_term.request_stop();
  if (wait) wait->abandon();
  let_go(has_led);
}

void candidacy::tell_failure() {
  std::exception_ptr why;
  end();
  {
    const model::annotated_lock lock{mutex_};
    why = failure_;
  }
  const auto log = [this](const char* what, const std::exception_ptr& thrown) {
    engine_->environment().log(log_level::error, "{} \"{}\": {}", what, office_.definition.name,
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
  end();
  const auto own = std::this_thread::get_id();
  {
    model::annotated_lock lock{mutex_};
    if (closer_ == own) return;
    if (std::exchange(closed_, true)) {
      lock.unlock();
      if (!wait_for_step()) return;
      lock.lock();
      changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return !closer_; });
      return;
    }
    closer_ = own;
    auto end_of_term = end_;
    lock.unlock();
    end_of_term.request_stop();
  }
  finish_close(mode, !wait_for_step());
  const model::annotated_lock lock{mutex_};
  closer_.reset();
  changed_.notify_all();
}

void candidacy::finish_close(close_mode mode, bool is_inside) {
  std::shared_ptr<async_acquire> wait;
  client_layer::hold_ptr held;
  bool has_led = false;
  {
    const model::annotated_lock lock{mutex_};
    wait = std::exchange(wait_, nullptr);
    held = std::exchange(held_, nullptr);
    has_led = std::exchange(told_, false);
  }
  const bool tells = has_led && mode == close_mode::tell && held;
  if (held && !has_led) held->set_keep_until({});  // the minimum hold time is that of a term
  if (wait) wait->abandon();
  if (tells && how_.lost) {
    try {
      how_.lost(held->loss());
    } catch (...) {
      engine_->environment().log(log_level::error, "lost() of a candidate for \"{}\" has thrown: {}",
                                 office_.definition.name, thrown_text(std::current_exception()));
    }
  }
  if (held) engine_->releaser().release(*held);
  if (is_inside) return;  // the function that called close() may still use term_
  on_loss_.reset();
  term_.reset();
}

}  // namespace rowlock::primitives
