// A meeting point with a name, for all processes that use the same database: a number of them wait until all
// are there, go on together, and may meet again.
//
//                         | fewer wait         | all others wait    | one who waits dies or gives up
//   arrive_and_wait       | waits              | all go on together | error(broken_barrier) for the others;
//                         |                    |                    | who comes later begins anew
//   its time is up, or it | gives up, and the  | goes on            | error(broken_barrier)
//   is stopped            | others are told    |                    |
//
// A generation ends in one commit, complete or broken, and never both: of its members either all go on, or
// none does. Who is killed is noticed when its lease has expired. A member whose own lease was lost while it
// waited hears error(broken_barrier), even if the others went on at the last moment.
//
// Every arrival is a hold of its own, so one process may arrive more than once, from several threads.
//
// A double barrier, where all begin together and nobody leaves before all are done, is two arrivals:
//
//   rowlock::barrier phase{db, "import/phase", 8};
//   phase.arrive_and_wait();   // all eight are here
//   import(part);
//   phase.arrive_and_wait();   // all eight are done
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::primitives {
class barrier_lock;
}

ROWLOCK_BEGIN_NAMESPACE

// Thread safety: every member may be called from any thread at once.
class ROWLOCK_EXPORT barrier {
 public:
  // Who waits is read in one piece, under the lock's row.
  static constexpr std::int64_t most_parties = 64;

  // name: as mutex. parties: 1 to most_parties, the same wherever the name is used: another number than the
  // stored one is error(mismatch), thrown by the first arrival. Sends nothing. Throws
  // error(invalid_argument).
  barrier(client db, std::string name, std::int64_t parties);
  ~barrier();
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  const std::string& name() const noexcept;
  std::int64_t parties() const noexcept;  // as this object asks for it

  // Waits until all have arrived, for ever if need be. Returns the number of the generation: the same for all
  // its members, above that of every generation before, and no count, for there are gaps. A connection that
  // breaks does not end the wait.
  // Throws error: broken_barrier; cancelled when stop was requested, which breaks the generation; mismatch,
  // closed, forked, and what the database refuses for good. Whatever is thrown, this arrival counts no more.
  std::int64_t arrive_and_wait(std::stop_token stop = {});

  // Waits at most that long. Empty: the time is up or stop was requested, and the generation is broken. All
  // may have arrived at the last moment; the database decides, so this takes a round trip longer. Where it
  // gives no answer for as long as a call may take (options::connect_timeout and twice the
  // statement_timeout), error(unreachable) with outcome_unknown() is thrown, and the generation breaks when
  // the database can be reached again, or when this client's lease has ended.
  std::optional<std::int64_t> arrive_and_wait_for(time_limit timeout, std::stop_token stop = {});
  template <class Clock, class Duration>
  std::optional<std::int64_t> arrive_and_wait_until(const std::chrono::time_point<Clock, Duration>& time,
                                                    std::stop_token stop = {}) {
    return arrive_and_wait_for(time_limit::until(time), std::move(stop));
  }

  // How many wait. Reads; it may have changed when it is told. Throws error(unreachable) and such.
  std::int64_t waiting() const;

 private:
  std::unique_ptr<primitives::barrier_lock> lock_;
};

ROWLOCK_END_NAMESPACE
