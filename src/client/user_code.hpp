// Guards the calls of the user's code: options::log and the source of the URL. None is called once the client
// is closed.
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

  // Calls it. False: this is closed, and nothing was called.
  template <class Call>
  bool run(Call&& call) {
    if (!enter()) return false;
    const leaving at_the_end{*this};
    call();
    return true;
  }

  // From now on nothing is called. Waits for the calls under way, except those that this thread is inside.
  void close();

 private:
  struct leaving {
    user_code& user_calls;
    ~leaving() { user_calls.leave(); }
  };

  bool enter();
  void leave();

  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  int under_way_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
