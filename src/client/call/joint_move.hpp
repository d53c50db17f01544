// Moves the holds of several locks in one edit, each onto an explicit-ttl lease of its own. The ttl begins
// with the move.
#pragma once

#include "client/decision/decisions.hpp"
#include "client/engine.hpp"
#include "client/worker/edit_round.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rowlock::client_layer {

// Its caller has a worker call run() again while outcome() is `again`. A try that the caller no longer waits
// for may still run in a worker's thread.
//
//   outcome | what happened                                    | moved()
//   moved   | every hold stands on its own lease               | all
//   again   | a row was locked: nothing was written            | -
//   lost    | a hold was lost before, or its new lease is over | those that stand, perhaps none
class joint_move {
 public:
  enum class result : std::uint8_t { moved, again, lost };

  // Requires: the locks' names are distinct and sorted, and from[i] is a hold of locks[i].
  joint_move(engine& on, std::vector<model::lock_request> locks, std::vector<hold_ptr> from,
             std::chrono::milliseconds ttl, std::chrono::milliseconds min_hold);

  void run(store::session& session);
  result outcome() const;
  const std::vector<hold_ptr>& moved() const { return moved_; }

  // For a caller that has given up, or continues without the holds: releases all of them, on whichever lease
  // they stand. A try may still run; drop_moved() releases the holds that it moves.
  void withdraw() const noexcept;
  // Releases the holds that stand on their own leases. Call it when run() has ended: in the same thread, or
  // once the task that called run() has been answered.
  void drop_moved() noexcept;

 private:
  std::vector<decision> decide(std::span<const store::edit_result> results,
                               std::span<const store::lock_view> views) const;
  // What may be needed after the statement, and is made before it: the new lease of a hold, and the release
  // of that hold.
  struct provision {
    std::shared_ptr<lease> own;
    release_ptr ending;
  };
  provision provide(std::size_t i) const;
  // Withdraws a hold from its new lease.
  void withdraw(std::size_t i, provision with, instant sent_at) const noexcept;
  void take(std::size_t i, instant sent_at, std::uint64_t check_count);

  engine& engine_;
  const std::vector<model::lock_request> locks_;
  const std::vector<hold_ptr> from_;
  const std::chrono::milliseconds min_hold_;
  const hold_move moving_{from_, hold_state::move::within};
  std::vector<ids_in_use::mark> in_use_;
  // The same leases in each try, because a try whose answer was lost may have been executed (I7).
  std::vector<store::lease_record> leases_;
  mutable std::vector<provision> for_withdraw_;  // used once
  std::vector<provision> for_take_;              // of the try that runs
  // When the first try whose answer was lost was sent: the new leases may have begun then.
  std::optional<instant> first_sent_at_;
  std::vector<edit_reply> replies_;
  std::vector<hold_ptr> moved_;
};

}  // namespace rowlock::client_layer
