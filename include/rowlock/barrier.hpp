// A meeting point with a name, for all processes that use the same database: members wait until all have arrived,
// continue together, and may meet again.
//
//                        | fewer have arrived   | all others have arrived | a waiting member dies or gives up
//   arrive_and_wait      | waits                | all continue together   | error(broken_barrier) for the
//                        |                      |                         | others; later arrivals begin anew
//   the timeout passes,  | it gives up; the     | it continues            | error(broken_barrier)
//   or it is stopped     | generation is broken |                         |
//   it was stopped       | does not arrive      | does not arrive         | does not arrive
//   before the call      |                      |                         |
//
// A generation ends in one commit, complete or broken: all of its members continue, or none does. A member's
// death is noticed when its lease has expired. A member that lost its own lease while it waited gets
// error(broken_barrier), even if the others had continued just before. Every arrival is a separate member, so
// one process may arrive several times. For a double barrier, where all begin together and nobody leaves
// before all are done, arrive twice.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/participant.hpp>

#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// Thread safety: every member may be called from any thread at once. Movable, as mutex.
class ROWLOCK_EXPORT barrier {
 public:
  // Limited because one statement reads all waiting members while it has the lock's row locked.
  static constexpr std::int64_t most_parties = 64;

  // name: as mutex. parties: 1 to most_parties; the same wherever the name is used. If the stored number differs, the
  // first arrival throws error(mismatch). Sends nothing. Throws error(invalid_argument).
  barrier(client db, std::string name, std::int64_t parties);
  barrier(barrier&& other) noexcept;
  barrier& operator=(barrier&& other) noexcept;
  ~barrier();

  const std::string& name() const noexcept;
  std::int64_t parties() const noexcept;  // what this object expects

  // Waits until all have arrived, for ever if necessary; a broken connection does not end the wait. Returns the number
  // of the generation: the same for all of its members and greater than every earlier one, with gaps. Throws error:
  // broken_barrier; cancelled if stop was requested, which breaks the generation if it has arrived; unreachable if it
  // was stopped and the database does not answer, as arrive_and_wait_for() does, or if a thread cannot be started;
  // mismatch, closed, forked, read_only, and what the database refuses permanently. After an error this arrival no
  // longer counts.
  std::int64_t arrive_and_wait(std::stop_token stop = {});

  // Waits at most `timeout`; with zero or less it arrives, too, and gives up at once unless it is the last. Empty: the
  // time passed or stop was requested, and the generation is broken if this member had arrived. The database decides
  // whether the others had arrived by then, which takes another round trip. If it does not answer for as long as a call
  // may take, throws error(unreachable) with outcome_unknown(), and the generation breaks when the database can be
  // reached again or this client's lease has expired.
  [[nodiscard]] std::optional<std::int64_t> arrive_and_wait_for(time_limit timeout,
                                                                std::stop_token stop = {});
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<std::int64_t> arrive_and_wait_until(
      const std::chrono::time_point<Clock, Duration>& time, std::stop_token stop = {}) {
    return arrive_and_wait_for(time_limit::until(time), std::move(stop));
  }

  // How many members wait, including those whose lease has expired but was not killed yet. The number may change at any
  // time. Throws error: mismatch, unreachable and others.
  [[nodiscard]] std::int64_t waiting() const;

  // The waiting members whose lease has not expired, in the order of their arrivals. Throws as waiting().
  [[nodiscard]] std::vector<participant> members() const;

 private:
  friend struct primitives::access;
  std::unique_ptr<primitives::barrier_lock> lock_;
};

ROWLOCK_END_NAMESPACE
