// Releases holds: from the caller's thread where a worker is idle, otherwise through the queue.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/core/hold_registry.hpp"
#include "client/core/submission_queue.hpp"
#include "client/worker/statement_worker.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace rowlock::client_layer {

using worker_list = std::vector<std::unique_ptr<statement_worker>>;

// Thread-safe.
class hold_releaser {
 public:
  hold_releaser(client_environment& environment, submission_queue& queue, hold_registry& holds,
                const worker_list& workers, const session_slot& fallback)
      : environment_(environment), queue_(queue), holds_(holds), workers_(workers), fallback_(fallback) {}

  // Both release() functions wait at most options::close_timeout. No release needs memory.
  release_result release(hold_state& hold);
  // Uses one statement if all are held exclusively and nobody waits. Result i belongs to hold i. Requires: room and
  // results have as many elements as holds.
  void release(std::span<const hold_ptr> holds, std::span<release_answer> room,
               std::span<release_result> results);

  // The halves of release(). begin() returns null if the hold was already over. Its caller goes on at once, so acquires
  // of the name that are submitted later are sent after the release (release_operation::goes_first). await(): while
  // there is no connection, all callers share one deadline, one close_timeout after the first of them began to wait.
  release_answer begin(hold_state& hold) noexcept;
  // As begin(), but the result is `unknown` if a lost answer leaves open whether the hold stood until its release.
  release_answer begin_certain(hold_state& hold) noexcept;
  // As begin(), but completes the caller's own answer, even if the hold was already over.
  void begin(hold_state& hold, const release_answer& answer) noexcept;
  release_result await(const release_answer& answer, instant until);
  // Releases a hold that no caller got, so its lock does not rest for its minimum hold time.
  void give_back(hold_state& hold) noexcept;

  // A durable release of a hold that close() has marked as lost.
  release_ptr closing_release(hold_state& hold) const noexcept;

 private:
  bool is_connected() const;
  instant end_of_outage();
  bool can_be_fast(const hold_state& hold) const;
  release_ptr release_of(hold_state& hold) const noexcept;
  release_ptr operation_of(hold_state& hold) noexcept;  // null: the hold was over before
  release_answer send(release_ptr operation) noexcept;

  client_environment& environment_;
  submission_queue& queue_;
  hold_registry& holds_;
  const worker_list& workers_;
  const session_slot& fallback_;
  std::atomic<instant> outage_ends_{instant::max()};  // until when releases wait for a connection
};

}  // namespace rowlock::client_layer
