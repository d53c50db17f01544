// The simple cases, with one statement for all requests of a batch: free locks are acquired, locks without
// waiters are released, and a single request enters the queue. The slow path decides the rest.
#pragma once

#include "client/connection/session_slot.hpp"
#include "client/core/submission_queue.hpp"
#include "client/worker/worker_services.hpp"

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace rowlock::client_layer {

// Part of a worker, used by its thread. Answered requests leave the batch. Each function throws what the
// store throws; requests that the failed statement may have granted are then under way (acquire_progress).
class fast_path {
 public:
  fast_path(worker_services& client, session_slot& slot)
      : client_(client), environment_(client.environment), slot_(slot) {}

  void release(batch& work);
  // Releases a hold by a hand-over, if the release is alone in its batch.
  void hand_over(std::vector<release_ptr>& operations);
  // Acquires what is free; a single request enters the queue behind a live holder.
  void acquire_or_enqueue(batch& work);
  // Answers `busy` to requests that do not wait and whose lock is held.
  void look_first(std::vector<acquire_ptr>& operations);

 private:
  bool prepare(const acquire_ptr& operation, const std::shared_ptr<client_layer::lease>& lease);
  bool queues(const model::lock_definition& definition) const;
  // Recorded names take the slow path, because only an edit writes the history.
  bool is_recorded(const std::string& name) const { return environment_.recorded.contains(name); }
  bool may_be_fast(const acquire_operation& operation) const;
  std::unordered_set<std::string> joined_for_edit(const batch& work) const;
  void acquire(batch& work);
  void enqueue(std::vector<acquire_ptr>& operations, bool contended_only);
  void schedule_sweep(const std::string& name) noexcept;
  void wake_office_watchers();  // the leader may have changed

  worker_services& client_;
  client_environment& environment_;
  session_slot& slot_;
};

}  // namespace rowlock::client_layer
