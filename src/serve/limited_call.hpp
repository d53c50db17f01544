// A call that the database may never answer.
#pragma once

#include "model/annotated_mutex.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace rowlock::serve {

// For a call whose connection has no time limit, such as a migrator's: the caller waits no longer than the limit. The
// call itself goes on, in a thread of its own that nobody joins, so it must own what it uses. Until it has ended, no
// other call begins: whoever calls meanwhile waits for the same result. Copies are the same call. Any thread may call
// it.
template <class Result>
class limited_call {
 public:
  // what: names the call in the error.
  limited_call(std::string what, std::function<Result()> call, std::chrono::milliseconds limit)
      : what_{std::move(what)}, call_{std::move(call)}, limit_{limit} {}

  // Returns or throws what the call does; error(unreachable) if it has not ended within the limit, error(closed) after
  // end().
  Result operator()() const {
    const auto found = under_way();
    if (found.wait_for(limit_) == std::future_status::ready) return found.get();
    throw error(errc::unreachable,
                fmt::format("the database has not answered {} within {} ms", what_, limit_.count()));
  }

  // Whoever waits for the call waits no longer, and no call begins from now on.
  void end() const {
    if (const auto to = state_->take(true)) to->set_exception(std::make_exception_ptr(ended()));
  }

 private:
  using promise_ptr = std::shared_ptr<std::promise<Result>>;
  struct state {
    model::annotated_mutex mutex;
    std::shared_future<Result> latest ROWLOCK_GUARDED_BY(mutex);
    promise_ptr answer ROWLOCK_GUARDED_BY(mutex);  // of the call that is under way
    bool is_over ROWLOCK_GUARDED_BY(mutex) = false;

    // Null: nobody waits for an answer any more.
    promise_ptr take(bool is_last = false) {
      const model::annotated_lock lock{mutex};
      is_over = is_over || is_last;
      return std::exchange(answer, nullptr);
    }
  };

  static error ended() { return {errc::closed, "the service is ending"}; }

  std::shared_future<Result> under_way() const {
    const model::annotated_lock lock{state_->mutex};
    if (state_->is_over) throw ended();
    if (state_->answer) return state_->latest;
    auto answer = std::make_shared<std::promise<Result>>();
    state_->latest = answer->get_future().share();
    std::thread{[call = call_, of = state_] {
      try {
        auto result = call();
        if (const auto to = of->take()) to->set_value(std::move(result));
      } catch (...) {
        if (const auto to = of->take()) to->set_exception(std::current_exception());
      }
    }}.detach();
    state_->answer = std::move(answer);
    return state_->latest;
  }

  std::string what_;
  std::function<Result()> call_;
  std::chrono::milliseconds limit_;
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace rowlock::serve
