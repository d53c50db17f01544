// Carries batches to the database: a fast statement for each verb, then the slow path for what it left. Every
// grant, release and failure of the client passes through here.
#pragma once

#include "client/chores.hpp"
#include "client/decisions.hpp"
#include "client/lane_desk.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace rowlock::client_layer {

// Used by one thread at a time: its own, or a caller's.
class lane {
 public:
  lane(lane_desk& desk, duty carried, connector connect);

  session_slot& slot() noexcept { return slot_; }
  bool carries(duty asked) const noexcept { return duty_ == duty::everything || duty_ == asked; }
  void run();  // the thread's body, until the queue is stopped and empty

  // Carries one request in the caller's thread while the lane has nothing else to do: a lone request then
  // costs no thread switch. Of an acquire only the fast statement: what may wait is the lane's. False: it is
  // for the queue. Any thread. limit: after that long without an answer the connection counts as dead.
  bool carry_alone(const acquire_ptr& operation);
  bool carry_alone(const release_ptr& operation, std::chrono::nanoseconds limit);

 private:
  // A request on the slow path.
  struct edit_item {
    acquire_ptr acquire;
    release_ptr release;
    std::shared_ptr<lease> moving_to{};  // the acquire was granted and moves to this explicit-ttl lease
    std::optional<store::lease_record> moving_to_record{};
    instant sent_at{};
    std::uint64_t hints{};  // heard before it was sent
    decision made{};

    const std::string& name() const { return acquire ? acquire->definition.name : release->name; }
  };

  template <class Work>
  auto call(Work&& work) {
    return slot_.call(std::forward<Work>(work), limit_);
  }
  template <class Fast>
  bool carry_alone(batch work, Fast fast);
  void carry(batch& work);
  void run_tasks(std::vector<task_ptr>& tasks);
  void release_fast(batch& work);
  void hand_over_fast(std::vector<release_ptr>& operations);
  // The fast path: who finds the lock free, and who enqueues behind its holder.
  void ask_for(batch& work);
  bool queues(const model::lock_definition& definition) const;
  void acquire_fast(batch& work);
  void enqueue_fast(std::vector<acquire_ptr>& operations, bool crowded_only);
  void ring(const std::string& name);
  void tell_onlookers();  // that an office may have changed hands
  void look_first(std::vector<acquire_ptr>& operations);
  void edit_all();
  void edit_round(chores& todo, int round);
  decision decide(edit_item& item, const store::lock_view& view) const;
  // Of all items of one name, each after the other.
  store::lock_change decide(std::span<edit_item> items, const store::lock_view& view) const;
  // Each returns whether the item needs another round.
  bool settle(edit_item& item, store::edit_result result, chores& todo, int round);
  bool settle_acquire(edit_item& item);
  bool settle_release(edit_item& item);
  bool settle_move(edit_item& item);

  bool prepare(const acquire_ptr& operation);
  void wait_in_room(const acquire_ptr& operation, std::chrono::microseconds takeover_in, std::uint64_t hints);
  void answered(const release_ptr& operation, release_result result);
  void was_absent(const release_ptr& operation);
  void row_was_locked(edit_item& item);
  void fail(const std::exception_ptr& cause, const error& failure, batch& work);

  lane_desk& desk_;
  duty duty_;
  context& shared_;
  std::mutex owner_;  // whose thread uses the lane
  session_slot slot_;
  std::chrono::nanoseconds limit_ = std::chrono::nanoseconds::max();  // of each statement
  backoff reconnect_ = reconnect_pause();
  std::vector<edit_item> items_;
};

}  // namespace rowlock::client_layer
