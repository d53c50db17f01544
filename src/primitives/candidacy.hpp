// The implementation of a candidate. After each event it decides what to do next, in one executor thread at a time.
#pragma once

#include "client/base/serial_steps.hpp"
#include "client/call/acquire_call.hpp"
#include "client/call/async_call.hpp"
#include "model/annotated_mutex.hpp"
#include "model/lock.hpp"

#include <rowlock/candidate.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

namespace rowlock::primitives {

// Thread-safe. Calls no user code under its mutex. A step does what the state asks for, and another step follows until
// nothing is left to do; clear() ends the candidacy because its executor drops what it is given.
class candidacy final : public client_layer::serial_steps {
 public:
  candidacy(std::shared_ptr<client_layer::engine> on, model::lock_request office, executor where,
            candidate_options how);
  ~candidacy() override;

  void campaign();  // throws what acquire_async throws
  candidate_state state() const;
  bool resign();
  void close(close_mode mode);

 private:
  using async_acquire = client_layer::async_call<client_layer::acquire_call>;
  using loss_watch = std::stop_callback<std::function<void()>>;
  struct turn;
  class end_call;
  enum class action { none, elect, lose, drop, campaign, tell_failure };

  void answered(async_acquire& wait);
  void dropped() noexcept;
  void office_was_lost() noexcept;
  void step() override;
  void fail(const std::exception_ptr& why) override;
  void clear() noexcept override;
  std::shared_ptr<candidacy> self() { return std::static_pointer_cast<candidacy>(shared_from_this()); }
  action next() const;
  void campaign_again();
  void finish_close(close_mode mode, bool is_inside);
  std::stop_source begin_term();
  void elect();
  void lose();
  void let_go(bool has_led);
  void tell_failure();

  const std::shared_ptr<client_layer::engine> engine_;
  const model::lock_request office_;
  const executor where_;
  const candidate_options how_;

  mutable model::annotated_mutex mutex_;
  std::condition_variable changed_;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::optional<std::thread::id> closer_
      ROWLOCK_GUARDED_BY(mutex_);  // the thread that is in the first close()
  std::shared_ptr<async_acquire> wait_ ROWLOCK_GUARDED_BY(mutex_);
  std::exception_ptr failure_ ROWLOCK_GUARDED_BY(mutex_);

  // What follows is of the current term. Whether the term lasts is asked of the hold itself, because the user may end
  // the term in another thread.
  client_layer::hold_ptr held_ ROWLOCK_GUARDED_BY(mutex_);
  bool told_ ROWLOCK_GUARDED_BY(mutex_) = false;     // elected() was called, and lost() was not
  bool resigns_ ROWLOCK_GUARDED_BY(mutex_) = false;  // by resign(), or because elected() has ended or thrown
  std::stop_source end_ ROWLOCK_GUARDED_BY(mutex_){std::nostopstate};
  // Made before elected() is called, because the end of the term must not need memory.
  std::shared_ptr<end_call> loss_call_ ROWLOCK_GUARDED_BY(mutex_);
  std::shared_ptr<end_call> resign_call_ ROWLOCK_GUARDED_BY(mutex_);
  // Used by the steps alone, and by close() when no step runs.
  std::unique_ptr<term> term_;
  std::unique_ptr<loss_watch> on_loss_;
};

}  // namespace rowlock::primitives
