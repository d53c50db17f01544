// Acquires several locks of one client, all or none: in one edit if all are free, otherwise in name order, so
// that no two callers wait for each other.
#pragma once

#include "client/base/serial_steps.hpp"
#include "client/call/acquire_call.hpp"
#include "client/call/joint_move.hpp"
#include "client/call/joint_round.hpp"
#include "model/annotated_mutex.hpp"

#include <rowlock/hold.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace rowlock::client_layer {

// The request of a joint_call. Its steps run in the threads of the workers and of the lease keeper: the
// thread that completes what a step waits for runs the next step.
//
//   stage     | it waits for          | event                        | next stage, or the end: settled
//   begun     | its first step        | submit()                     | asking
//   asking    | the edit of a round,  | all locks are granted        | moving, if there is an explicit ttl;
//             | perhaps after a pause |                              | otherwise settled
//             |                       | they are, but a hold is over | returning
//             |                       | a lock is busy               | waiting; if the caller does not wait,
//             |                       |                              | settled, without holds
//             |                       | a lock's row is locked       | waiting; if the caller does not wait,
//             |                       |                              | asking again; after too long settled
//             |                       | the answer was lost          | asking again
//             |                       | the client has no lease      | asking again, unless that is permanent, or
//             |                       |                              | the caller does not wait
//   waiting   | the first lock that   | the lock is granted          | asking for the rest; if it was the
//             | is not free, in its   |                              | last one, as when all are granted
//             | queue                 |                              |
//   moving    | the edit that puts    | all holds have moved         | settled; if a hold is over, returning
//             | all holds on leases   | a row was locked, or the     | moving again
//             | of their own          | answer was lost              |
//             |                       | a hold was lost before       | asking for all anew
//   returning | the release of all    | all are released             | asking for all anew
//
// A failure in any stage releases everything that the request has, and settles it. If the caller abandons the
// request, or settles it itself, everything is released, too; what is granted later is released by the thread
// that learns of the grant.
class joint_acquire final : public serial_steps {
 public:
  using holds = std::vector<hold_ptr>;

  // Sends nothing. owner: whose holds they are, for the search for deadlocks. Throws what acquire() throws
  // before it sends anything; error(invalid_argument) for an empty list or a name that occurs twice.
  joint_acquire(engine& on, const std::vector<model::lock_request>& wanted, const wait_limit& how_long,
                const acquire_options& how, model::hold_id owner);

  // The holds, in the order in which they were wanted. Empty: busy. An explicit ttl and a minimum hold time begin
  // when all are granted.
  promised<holds>& answer() noexcept { return answer_; }
  instant called_at() const noexcept { return called_at_; }

  void submit() { start(); }  // call it once
  // For a caller that has given up, or has settled the answer itself: releases everything.
  void abandon() { stop(); }
  // Why there is no answer yet, for a caller that gives up. Call it before abandon().
  std::optional<error> last_failure() const;

 private:
  enum class stage : std::uint8_t { begun, asking, waiting, moving, returning };

  void step() override;
  void fail(const std::exception_ptr& why) override;
  void clear() noexcept override;

  void begin_asking();
  void ask(std::chrono::nanoseconds pause = {});
  void asked();
  void ask_without_lease();
  void wait_for_next();
  void waited();
  void all_are_granted();
  void move(std::chrono::nanoseconds pause = {});
  void moved();
  void begin_anew();
  bool may_retry(const error& failure);
  std::shared_ptr<joint_round> next_round();
  void make_ids(std::size_t first);
  bool stand() const;
  void finish(holds granted);
  void withdraw_what_is_in_doubt() noexcept;

  engine& engine_;
  std::vector<model::lock_request> wanted_;  // in name order
  hold_room::place room_;                    // for those that are neither in holds_ nor waited for
  std::vector<std::size_t> order_;           // the index of each wanted_ in the caller's list
  const wait_limit how_long_;
  const acquire_options how_;
  const model::hold_id owner_;
  const instant called_at_;
  promised<holds> answer_;

  mutable model::annotated_mutex mutex_;
  std::unique_ptr<acquire_call> waiting_ ROWLOCK_GUARDED_BY(mutex_);  // changed by the steps alone

  // Only for the steps.
  stage stage_ = stage::begun;
  holds holds_;                      // of the first names
  std::vector<model::hold_id> ids_;  // the hold id with which each name is requested
  std::shared_ptr<lease> lease_;
  std::shared_ptr<joint_round> round_;     // under way, or answered and not taken over
  std::shared_ptr<joint_round> in_doubt_;  // the first whose answer was lost: it may have been executed
  std::shared_ptr<joint_move> moving_;     // of holds_, which may stand on their own leases already
  task_ptr task_;                          // of the round or the move
  int rounds_ = 0;
  int failures_ = 0;
  instant begun_{};
  backoff probe_ = row_probe();
  backoff reconnect_ = reconnect_pause();
};

}  // namespace rowlock::client_layer
