// What an executor is given to run.
#pragma once

#include <rowlock/config.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

ROWLOCK_BEGIN_NAMESPACE

// A function without parameters and result. Movable, not copyable, so it may own what cannot be copied. A pool that
// stores std::function<void()> takes it as
//
//   [shared = std::make_shared<rowlock::task>(std::move(next))] { (*shared)(); }
class [[nodiscard]] task {
 public:
  task() noexcept = default;  // empty
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, task> &&
           std::is_invocable_v<std::decay_t<Function>&>)
      task(Function&& function)  // NOLINT: implicit, as std::function's
      : code_(std::make_unique<code_of<std::decay_t<Function>>>(std::forward<Function>(function))) {}

  // Throws what the function throws. Requires: it is not empty. Call it once.
  void operator()() { code_->call(); }

  explicit operator bool() const noexcept { return code_ != nullptr; }

 private:
  struct code {
    code() = default;
    code(const code&) = delete;
    code& operator=(const code&) = delete;
    virtual ~code() = default;
    virtual void call() = 0;
  };
  template <class Function>
  struct code_of final : code {
    explicit code_of(Function made) : function(std::move(made)) {}
    void call() override { std::invoke(function); }
    Function function;
  };

  std::unique_ptr<code> code_;
};

// Runs the given task once, soon, on a thread of the caller's choice. Each wait keeps a copy of the executor, so it
// should refer to a pool or an event loop, which must outlive the waits and the client. rowlock/asio.hpp makes an
// executor from one of Asio's.
//
// rowlock calls the executor with no mutex locked and one call at a time, on a thread that each client has for this
// alone. The executor is called on the caller's own thread for the release of an empty hold, and for any release if the
// client is closed or that thread cannot be started. While the client closes, a candidate's executor may be called on
// another of rowlock's threads. The executor must be quick, because the client's other completions wait for it, and
// must not close the client. It may run the task at once if the task is quick, too. An exception is logged, and ends
// the wait as if the task had been destroyed; for the release of an empty hold the caller gets the exception.
using executor = std::function<void(task)>;

ROWLOCK_END_NAMESPACE
