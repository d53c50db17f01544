#include "client/connect_timer.hpp"

#include "client/blocked_signals.hpp"

#include <rowlock/error.hpp>

#include <pthread.h>

#include <system_error>

namespace rowlock::client_layer {

connect_timer::connect_timer(time_source& time, instant until) {
  const blocked_signals blocked;
  try {
    thread_ = std::thread{[this, &time, until] { run(time, until); }};
  } catch (const std::system_error& failure) {
    throw error(errc::unreachable,
                std::string{"no thread can be started to bound an attempt to connect: "} + failure.what());
  }
  ::pthread_setname_np(thread_.native_handle(), "rowlock-dial");
}

connect_timer::~connect_timer() {
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void connect_timer::run(time_source& time, instant until) {
  std::unique_lock lock{mutex_};
  while (!over_ && time.now() < until) time.wait_until(lock, changed_, until);
  const bool up = !over_;
  lock.unlock();
  if (up) watch_.interrupt();
}

}  // namespace rowlock::client_layer
