// A countdown with a name, for all processes that use the same database: who waits goes on when it is zero.
//
//                  | more than n remain | n remain            | fewer than n remain
//   count_down(n)  | counted            | counted: it is open | error(invalid_argument), nothing is counted
//
//                  | closed             | open, at zero
//   wait           | waits              | returns at once; who waited is woken, all together
//   try_wait       | false              | true
//   reset          | counts anew        | closed, counts anew
//
// Unlike a hold, what was counted stays counted when the process that did it is gone. Who waits stands in the
// lock's queue on its process's lease, and leaves nothing when it gives up or dies.
//
// A latch stays open for those who come late, so `rowlock gc` never collects one that has been counted down:
// reset() it, or leave it. One that is untouched is collected as any other name. Each call of count_down is a
// row until then; a latch is meant for up to some thousands of them.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace rowlock::primitives {
class latch_lock;
}

ROWLOCK_BEGIN_NAMESPACE

// Thread safety: every member may be called from any thread at once.
//
// Every member throws error: mismatch when the name is stored as something else, or with another count;
// unreachable, privilege and such when the database cannot be asked; closed, forked. What was counted is
// unchanged then, unless outcome_unknown() is true: then it may have been counted, or taken back. A wait that
// ends without the latch being open leaves nothing.
class ROWLOCK_EXPORT latch {
 public:
  // name: as mutex. count: 1 to 1,000,000,000, the same wherever the name is used. Sends nothing.
  // Throws error(invalid_argument).
  latch(client db, std::string name, std::int64_t count);
  ~latch();
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  const std::string& name() const noexcept;
  std::int64_t count() const noexcept;  // as this object asks for it

  // Counts down, for good. Each call counts once, also when its answer is lost and it is sent again. Throws
  // error(invalid_argument) when n is below 1, or fewer than n remain; then nothing has changed. Throws
  // error(unreachable) when the database gives no answer for as long as a call may take: outcome_unknown()
  // then says whether it may have been counted.
  void count_down(std::int64_t n = 1);

  // How many remain to be counted down. Reads; it may have changed when it is told.
  std::int64_t remaining() const;

  // Whether it is open. Reads.
  bool try_wait() const;

  // Waits until it is open, for ever if need be, also while the database cannot be reached. Throws also
  // error(cancelled) when stop is requested.
  void wait(std::stop_token stop = {});

  // Waits at most that long. False: it was not open by then, or stop was requested.
  bool wait_for(time_limit timeout, std::stop_token stop = {});
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time, std::stop_token stop = {}) {
    return wait_for(time_limit::until(time), std::move(stop));
  }

  // count_down(n), then wait(). Stopped while it counts it throws error(cancelled) too: outcome_unknown()
  // then says whether it may have been counted.
  void arrive_and_wait(std::int64_t n = 1, std::stop_token stop = {});

  // Takes back all that was counted, as if the latch were new. Who waits for it waits on; who was let go
  // before and has not noticed yet may wait again, so call it between two uses. It may be made again after
  // error(unreachable).
  void reset();

 private:
  std::unique_ptr<primitives::latch_lock> lock_;
};

ROWLOCK_END_NAMESPACE
