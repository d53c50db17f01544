// One statement for all requests of a batch that have it easy: what is free is taken, what nobody waits for
// is released, and a lone request finds its place in the queue. What is left over is for the slow path.
#pragma once

#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"
#include "client/worker_context.hpp"

#include <string>
#include <vector>

namespace rowlock::client_layer {

// Of one worker, and used by its thread. What is answered is taken out of the batch. Each throws what the
// store throws; then acquires that may have got something are in flight.
class fast_path {
 public:
  fast_path(worker_context& client, session_slot& slot)
      : client_(client), context_(client.shared), slot_(slot) {}

  void release(batch& work);
  // To the head of the queue.
  void hand_over(std::vector<release_ptr>& operations);
  // Who finds the lock free, and who enqueues behind its holder.
  void acquire_or_enqueue(batch& work);
  // Attempts that would not wait and see that they must.
  void look_first(std::vector<acquire_ptr>& operations);

 private:
  bool prepare(const acquire_ptr& operation);
  bool queues(const model::lock_definition& definition) const;
  void acquire(batch& work);
  void enqueue(std::vector<acquire_ptr>& operations, bool contended_only);
  void schedule_sweep(const std::string& name);
  void wake_office_watchers();  // that an office may have changed hands

  worker_context& client_;
  context& context_;
  session_slot& slot_;
};

}  // namespace rowlock::client_layer
