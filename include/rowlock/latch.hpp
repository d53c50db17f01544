// A countdown with a name, for all processes that use the same database. Waiters continue when it is zero.
//
//                  | more than n remain | exactly n remain      | fewer than n remain
//   count_down(n)  | counted            | counted; now open     | error(invalid_argument), nothing counted
//
//                  | closed             | open (zero remain)
//   wait           | waits              | returns at once; when it opens, all waiters are woken together
//   try_wait       | false              | true
//   reset          | counts anew        | closed; counts anew
//
// Unlike a hold, a count stays when the process that counted is gone. A waiter that gives up or dies leaves
// nothing behind. A latch stays open for latecomers, so `rowlock gc` never deletes one that has been counted
// down, unless it is reset(). Until a reset each count_down() occupies a row; a latch is meant for at most a
// few thousand of them.
#pragma once

#include <rowlock/client.hpp>

ROWLOCK_BEGIN_NAMESPACE

// Thread safety: every member may be called from any thread at once. Movable, as mutex.
//
// Every member except name() and count() throws error: mismatch if the name is stored as another kind of lock or with
// another count; unreachable, privilege and others if the database does not answer; closed; forked. Members that count
// down or reset throw read_only if options::read_only is set. The count is then unchanged, unless outcome_unknown():
// then the call may have taken effect.
class ROWLOCK_EXPORT latch {
 public:
  // name: as mutex. count: 1 to 1,000,000,000, the same everywhere. Sends nothing. Throws error(invalid_argument).
  latch(client db, std::string name, std::int64_t count);
  latch(latch&& other) noexcept;
  latch& operator=(latch&& other) noexcept;
  ~latch();

  const std::string& name() const noexcept;
  std::int64_t count() const noexcept;  // what this object expects

  // Counts down permanently. Each call counts once, even if its answer is lost and it is sent again. But if
  // the latch was reset in between, and the database does not show whether the call had counted before, it
  // throws error(unreachable) with outcome_unknown() instead of counting again. Throws
  // error(invalid_argument) if n is below 1, or if fewer than n remain; then nothing has changed.
  void count_down(std::int64_t n = 1);

  // How many remain to be counted down. The number may change at any time.
  [[nodiscard]] std::int64_t remaining() const;

  // Whether the latch is open.
  [[nodiscard]] bool try_wait() const;

  // Waits until the latch is open, for ever if necessary, even without a connection. Throws also error: cancelled if
  // stop is requested; read_only if options::read_only is set and the latch is closed; and, although it waits for a
  // connection, unreachable if a thread cannot be started.
  void wait(std::stop_token stop = {});

  // Waits at most `timeout`; zero or less is try_wait(). False: the latch was not open by then, or stop was requested.
  // Throws error(unreachable) if by then the call had entered no queue and its latest attempt to ask the database had
  // failed. If the database answered nothing during the whole call, it throws unreachable for a timeout of 800 ms or
  // more; for a shorter one the result is false.
  [[nodiscard]] bool wait_for(time_limit timeout, std::stop_token stop = {});
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration>& time,
                                std::stop_token stop = {}) {
    return wait_for(time_limit::until(time), std::move(stop));
  }

  // count_down(n), then wait(). If stop is requested while the call counts, it throws error(cancelled); if
  // outcome_unknown(), it may have counted. In the timed forms, also with a point in time, the time for the wait begins
  // when the call has counted: they may end later by as long as a call may take.
  void arrive_and_wait(std::int64_t n = 1, std::stop_token stop = {});
  [[nodiscard]] bool arrive_and_wait_for(time_limit timeout, std::int64_t n = 1, std::stop_token stop = {});
  template <class Clock, class Duration>
  [[nodiscard]] bool arrive_and_wait_until(const std::chrono::time_point<Clock, Duration>& time,
                                           std::int64_t n = 1, std::stop_token stop = {}) {
    return arrive_and_wait_for(time_limit::until(time), n, std::move(stop));
  }

  // Undoes all counting, as if the latch were new; waiters keep waiting. Call it between two uses: a waiter
  // that was woken but has not noticed yet may wait again. If an answer is lost, the reset is sent again, and
  // also undoes what was counted in between, before the call returned. You may repeat the call after
  // error(unreachable).
  void reset();

 private:
  friend struct primitives::access;
  std::unique_ptr<primitives::latch_lock> lock_;
};

ROWLOCK_END_NAMESPACE
