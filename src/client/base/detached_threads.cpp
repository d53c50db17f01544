#include "client/base/detached_threads.hpp"

#include "client/base/blocked_signals.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace rowlock::client_layer {

namespace {

thread_local const detached_threads* threads_of_this_one = nullptr;

}  // namespace

void detached_threads::start(const char* name, std::function<void()> body,
                             std::shared_ptr<const void> owner) {
  {
    const model::annotated_lock lock{mutex_};
    ++running_;
  }
  const blocked_signals blocked;
  try {
    // The thread may run before this function continues, or after it has returned. Both set the thread's
    // name, so the thread has it in either case.
    std::thread thread{
        [this, own_name = std::string{name}, body = std::move(body), owner = std::move(owner)]() mutable {
          ::pthread_setname_np(::pthread_self(), own_name.c_str());
          threads_of_this_one = this;
          body();
          ended();
          owner.reset();
        }};
    ::pthread_setname_np(thread.native_handle(), name);
    thread.detach();
  } catch (...) {
    ended();
    throw;
  }
}

void detached_threads::start_once(const std::string& role, const char* name, std::function<void()> body,
                                  std::shared_ptr<const void> owner) {
  const auto [added, is_new] = roles_.insert(role);
  if (!is_new) return;
  try {
    start(name, std::move(body), std::move(owner));
  } catch (const std::system_error& failure) {
    roles_.erase(added);
    throw error(
        errc::unreachable,
        fmt::format("the client cannot start a thread: {}; the next call tries again", failure.what()));
  } catch (...) {
    roles_.erase(added);
    throw;
  }
}

void detached_threads::ended() {
  const model::annotated_lock lock{mutex_};
  --running_;
  changed_.notify_all();
}

int detached_threads::wait_until(time_source& time, instant until) {
  const int own = threads_of_this_one == this ? 1 : 0;
  model::annotated_lock lock{mutex_};
  while (running_ > own && time.now() < until) time.wait_until(lock, changed_, until);
  return running_ - own;
}

}  // namespace rowlock::client_layer
