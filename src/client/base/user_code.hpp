// Guards the calls of user code: options::log, options::on_event and the source of the URL. None is called once the
// client is closed.
#pragma once

#include "model/annotated_mutex.hpp"

#include <rowlock/config.hpp>

#include <condition_variable>

namespace rowlock::client_layer {

// Thread-safe.
class user_code {
 public:
  user_code() = default;
  user_code(const user_code&) = delete;
  user_code& operator=(const user_code&) = delete;

  // Calls code(). False: close() was called before, so code() was not called.
  template <class Code>
  bool run(Code&& code) {
    const call entered{*this};
    if (entered.may_run()) code();
    return entered.may_run();
  }

  // Prevents further calls. Waits for the calls under way, except those that this thread is inside.
  void close();

  // A call of user code by this thread, on its stack.
  class call {
   public:
    explicit call(user_code& entered);
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call();

    bool may_run() const noexcept { return may_run_; }

   private:
    friend user_code;
    user_code& entered_;
    const call* const outer_;
    bool may_run_ = false;
  };

 private:
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  int under_way_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
