// Looks for circles of waiters, for all waiters of a client that ask for it. Only one search runs at a time;
// callers that ask meanwhile share its result. The workers that acquire read one name per step, so if such a
// worker also sends releases, a release waits for at most one step.
#pragma once

#include "client/core/hold_registry.hpp"
#include "client/core/submission_queue.hpp"
#include "client/worker/wait_graph.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe.
class deadlock_search {
 public:
  deadlock_search(client_environment& environment, submission_queue& queue)
      : environment_(environment), queue_(queue) {}

  // Returns the circle that the owner (hold_id::owner) is part of, as seen by a look whose number is above
  // `after`, and sets `after` to that number. Returns an empty circle if the owner is in none, the database
  // cannot be read now, or the wait is over. Throws what the store throws, unless that is transient.
  wait_cycle circle_of(std::uint64_t owner, std::uint64_t& after, std::optional<instant> until,
                       const std::stop_token& stop);

  // Waits for the answer, and looks for a circle every poll interval. Returns empty when stop is requested,
  // or when no further look fits in before `until`; the caller may wait on. Throws error(deadlock) if two
  // looks in a row show the owner in the same circle. It is enough that one waiter of a circle gives up: the
  // one whose hold id is greatest does so first, and the others give it the time of a few looks.
  template <class Result>
  std::optional<Result> wait(promised<Result>& answer, std::uint64_t owner, std::optional<instant> until,
                             const std::stop_token& stop);

 private:
  // The part of a look that its waiting callers read.
  struct progress {
    enum class state { reads, read, searched, done } now = state::reads;
    std::vector<wait_cycle> cycles{};
    std::optional<error> failure{};
  };
  class look {
   public:
    look(std::uint64_t which, instant now) : number(which), begun_at(now) {}

    const std::uint64_t number;
    const instant begun_at;
    // These three are used by one step at a time, and by the search once no step follows.
    std::optional<std::vector<std::string>> names{};  // still to be read, the last first
    bool goes_on = false;                             // the latest step succeeded, and names are left
    std::vector<contended_lock> locks{};

   private:
    friend class deadlock_search;
    progress progress_{};
  };
  using look_ptr = std::shared_ptr<look>;
  using state = progress::state;

  // The annotations of a look cannot name the mutex that guards its progress, so this function alone accesses
  // the progress.
  progress& of(look& one) ROWLOCK_REQUIRES(mutex_) { return one.progress_; }

  look_ptr begin() ROWLOCK_REQUIRES(mutex_);
  void submit_step(const look_ptr& made);
  void give_up(const look_ptr& made);
  void read_step(store::admin_verbs& session, look& made);
  // Runs in the thread of a caller that waits, and unlocks the mutex meanwhile, so that the search blocks no
  // worker.
  void search(look& found) ROWLOCK_REQUIRES(mutex_);

  client_environment& environment_;
  submission_queue& queue_;
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  look_ptr latest_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
