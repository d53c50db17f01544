// One connection, which is made again when it breaks. Limits the time of each statement, and reports the
// ghosts of broken sessions to the client.
#pragma once

#include "client/base/client_environment.hpp"
#include "model/annotated_mutex.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Makes a session. Thread-safe.
using connector = std::function<std::unique_ptr<store::session>()>;

// What a broken session leaves behind: statements that must be over before a request is sent again, or
// statements that are harmless whenever they are executed.
enum class ghost_kind : std::uint8_t { grants, harmless };

// Used by one thread, except end_wait(), interrupt() and interrupt_overdue(), which any thread may call.
class session_slot {
 public:
  session_slot(client_environment& environment, connector connect, ghost_kind leaves = ghost_kind::grants);

  // Runs the work of one statement. Connects first if needed; does not wait for ghosts. Throws what the store
  // throws. After error(unreachable) the connection is gone, and the next call makes a new one; after
  // error(read_only), too, because another server may be writable.
  template <class Work>
  auto call(Work&& work) {
    store::session& session = ready();
    check_time();
    const busy mark{*this};
    environment_.count.statements.fetch_add(1, std::memory_order_relaxed);
    ++calls_;
    try {
      return work(session);
    } catch (const error& failure) {
      note(failure);
      throw;
    }
  }

  // How many calls have begun.
  std::uint64_t calls() const noexcept { return calls_; }

  // Connects if there is no connection. Throws what the store throws.
  void open() { ready(); }
  // Ends the statements that broken connections of this client may have left running. False: some may still
  // run, and a request that may be one of them must not be sent again now.
  bool end_ghosts();

  // Nothing is sent after that time. A statement that is still under way then is interrupted, and the
  // connection counts as broken.
  void limit_answers(instant until) noexcept { until_ = until; }
  // Nothing is begun after that time. A statement that is still under way then keeps its own time limit.
  void limit_begins(instant until) noexcept { begins_until_ = until; }

  // Waits for a wake-up. Without a connection it connects instead, and returns true at once.
  // whose: for whom something may have changed, see wakeup_verbs.
  enum class interest : std::uint8_t { nobody, holders, waiters };
  bool wait(std::chrono::nanoseconds timeout, interest whose);
  // As session::woken_waiters(), for the latest wait().
  std::vector<model::hold_id> woken_waiters();

  // As session::warning(); empty without a connection.
  std::string warning() const {
    const auto* session = own_session();
    return session ? session->warning() : std::string{};
  }

  bool is_connected() const noexcept { return connected_.load(); }
  void end_wait() noexcept;
  void interrupt_overdue(instant now) noexcept;
  void interrupt() noexcept;
  // Closes the connection. Call it, like call(), in the thread that uses the slot.
  void close() noexcept;

  // Called with each new session, before anything else uses it.
  std::function<void(store::session&)> on_connect;

 private:
  class busy {
   public:
    explicit busy(session_slot& slot);
    ~busy();

   private:
    session_slot& slot_;
  };

  // For the thread that uses the slot. Unchecked by the analysis: no other thread changes the pointer, so
  // this thread may read it without the mutex.
  store::session* own_session() const noexcept ROWLOCK_UNCHECKED { return session_.get(); }
  store::session& ready();
  void connect();
  void check_time() const;
  void note(const error& failure) noexcept;
  void drop(bool leaves_ghost) noexcept;

  client_environment& environment_;
  connector connect_;
  model::annotated_mutex mutex_;  // guards the pointer against end_wait() and interrupt()
  std::unique_ptr<store::session> session_ ROWLOCK_GUARDED_BY(mutex_);
  const ghost_kind leaves_;
  std::string harmless_;  // the previous session's backend, which may keep rows locked
  instant until_ = instant::max();
  instant begins_until_ = instant::max();
  std::atomic<std::int64_t> overdue_at_{0};  // 0: no statement is under way
  std::atomic<bool> connected_{false};
  bool connected_before_ = false;
  std::uint64_t calls_ = 0;
};

}  // namespace rowlock::client_layer
