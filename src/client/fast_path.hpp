// One statement for all requests of a batch that have it easy: what is free is taken, what nobody waits for
// is released, and a lone request finds its place in the queue. What is left over is for the slow path.
#pragma once

#include "client/lane_desk.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"

#include <string>
#include <vector>

namespace rowlock::client_layer {

// Of one lane, and used by its thread. What is answered is taken out of the batch. Each throws what the store
// throws; then acquires that may have got something are in flight.
class fast_path {
 public:
  fast_path(lane_desk& desk, session_slot& slot) : desk_(desk), shared_(desk.shared), slot_(slot) {}

  void release(batch& work);
  // To the head of the queue.
  void hand_over(std::vector<release_ptr>& operations);
  // Who finds the lock free, and who enqueues behind its holder.
  void ask(batch& work);
  // Attempts that would not wait and see that they must.
  void look_first(std::vector<acquire_ptr>& operations);

 private:
  bool prepare(const acquire_ptr& operation);
  bool queues(const model::lock_definition& definition) const;
  void acquire(batch& work);
  void enqueue(std::vector<acquire_ptr>& operations, bool crowded_only);
  void ring(const std::string& name);
  void tell_onlookers();  // that an office may have changed hands

  lane_desk& desk_;
  context& shared_;
  session_slot& slot_;
};

}  // namespace rowlock::client_layer
