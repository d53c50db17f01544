// Looks for circles of waiters, for all waiters of a client that ask for it. One reading at a time serves all
// that ask meanwhile. The workers that acquire read one name per step, so a release waits for at most one
// step if the same worker sends both.
#pragma once

#include "client/hold_registry.hpp"
#include "client/submission_queue.hpp"
#include "client/wait_graph.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe.
class deadlock_search {
 public:
  deadlock_search(context& shared, submission_queue& queue) : context_(shared), queue_(queue) {}

  // The circle that the owner is part of, by a reading with a number above `after`, which becomes that
  // reading's number. Empty: it is in none, the database cannot be read now, or the wait is over. Throws what
  // the store throws if it is not transient.
  wait_cycle circle_of(std::uint64_t owner, std::uint64_t& after, std::optional<instant> until,
                       const std::stop_token& stop);

  // Waits for the operation's answer until then, or until stop is requested; null: neither came. Throws
  // error(deadlock) when the owner waits in a circle: two reads in a row must show the same one. The waiter
  // whose hold id is greatest gives up first, for one is enough; the others give it a little time.
  hold_ptr wait(acquire_operation& operation, std::uint64_t owner, std::optional<instant> until,
                const std::stop_token& stop);

 private:
  struct look {
    std::uint64_t number = 0;
    instant begun_at{};
    enum class state { reads, read, searched, done } now = state::reads;
    std::optional<std::vector<std::string>>
        names{};           // still to be read, the last first; used by one step at a time
    bool goes_on = false;  // the latest step succeeded, and names are left
    std::vector<contended_lock> locks{};
    std::vector<wait_cycle> cycles{};
    std::optional<error> failure{};
  };
  using look_ptr = std::shared_ptr<look>;

  look_ptr begin();
  void submit_step(const look_ptr& made);
  void read_step(store::session& session, look& made);
  // In the caller's thread: the workers have no time for it.
  void search(std::unique_lock<std::mutex>& lock, look& found);

  context& context_;
  submission_queue& queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  look_ptr latest_;
};

}  // namespace rowlock::client_layer
