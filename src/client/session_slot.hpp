// One connection that is made again when it breaks. Bounds every statement, and ends the ghosts of broken
// sessions before the new one is used (I7).
#pragma once

#include "client/context.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Makes a session for whom it asks. Thread-safe.
using connector = std::function<std::unique_ptr<store::session>()>;

// Used by one thread; wake() and interrupt_overdue() by any.
class session_slot {
 public:
  session_slot(context& shared, connector connect);

  // Runs one statement's worth of work. Connects first where needed. Throws what the store throws; after
  // error(unreachable) the connection is gone, and the next call makes a new one.
  template <class Work>
  auto call(Work&& work) {
    store::session& session = ready();
    const busy mark{*this};
    shared_.count.statements.fetch_add(1, std::memory_order_relaxed);
    try {
      return work(session);
    } catch (const error& failure) {
      if (failure.code() == errc::unreachable) drop();
      throw;
    }
  }

  // From now on: how long a statement may take before the connection counts as dead, if less than the
  // statement timeout.
  void limit_answers(std::chrono::nanoseconds limit) noexcept { limit_ = limit; }

  // Waits for a hint, in the connection there is. Connects first where needed; then it does not wait.
  bool wait(std::chrono::nanoseconds timeout);

  bool is_connected() const noexcept { return connected_.load(); }
  void wake() noexcept;
  void interrupt_overdue(instant now) noexcept;
  void interrupt() noexcept;

  // Called with each new session, before anything else uses it.
  std::function<void(store::session&)> on_connect;

 private:
  struct ghost {
    std::string backend;
    instant broke_at;
  };

  class busy {
   public:
    explicit busy(session_slot& slot);
    ~busy();

   private:
    session_slot& slot_;
  };

  store::session& ready();
  void connect();
  void end_ghosts();
  void drop() noexcept;

  context& shared_;
  connector connect_;
  std::mutex mutex_;  // guards the pointer against wake() and interrupt()
  std::unique_ptr<store::session> session_;
  std::vector<ghost> ghosts_;
  std::chrono::nanoseconds limit_ = std::chrono::nanoseconds::max();
  std::atomic<std::int64_t> overdue_at_{0};  // 0: no statement is under way
  std::atomic<bool> connected_{false};
  bool connected_before_ = false;
};

}  // namespace rowlock::client_layer
