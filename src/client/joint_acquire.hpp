// Acquires several locks of one client, all or none: in one edit if all are free, otherwise in name order, so
// that no two callers wait for each other.
#pragma once

#include "client/engine.hpp"
#include "client/joint_move.hpp"

#include <rowlock/hold.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace rowlock::client_layer {

// One call, in the thread of its caller.
class joint_acquire {
 public:
  // Requires: the names are distinct and sorted.
  joint_acquire(engine& on, std::vector<model::lock_request> wanted, const wait_limit& how_long,
                const acquire_options& how);
  joint_acquire(const joint_acquire&) = delete;
  joint_acquire& operator=(const joint_acquire&) = delete;
  ~joint_acquire();  // releases what run() has not returned

  // Returns the holds in the order of the names. Empty: busy, the time passed, or the wait was stopped. An
  // explicit ttl and a minimum hold time begin when all are granted.
  std::vector<hold_ptr> run();

 private:
  // One edit about the locks that are not held yet. Lives until its task is done.
  struct round;
  enum class progress { all, busy, over };

  progress take_what_is_free();
  // False: the wait is over. Otherwise moving_ is still set if one was lost.
  bool move_to_own_leases();
  bool stand() const;
  std::shared_ptr<round> next_round();
  std::vector<hold_ptr> nothing() const;
  bool is_over() const;
  bool sleep(std::chrono::nanoseconds pause);
  void make_ids(std::size_t first);
  // until: how long to wait for the answers. Empty: does not wait.
  void release_all(std::optional<instant> until) noexcept;

  engine& engine_;
  const std::vector<model::lock_request> wanted_;
  const wait_limit how_long_;
  const acquire_options how_;
  std::optional<instant> until_;
  std::vector<hold_ptr> holds_;      // of the first names
  std::vector<model::hold_id> ids_;  // of every name, for each request on this lease
  std::shared_ptr<lease> lease_;
  std::exception_ptr failure_;          // of the latest round; null: the database answered it
  std::shared_ptr<round> in_doubt_;     // the first whose answer was lost: its requests may be held
  std::shared_ptr<joint_move> moving_;  // of holds_, which may stand on their own leases already
};

}  // namespace rowlock::client_layer
