// Compares what the database has on this client's leases with what the client knows, and releases the rest: a
// grant that came late, a hold whose release a fail-over has lost, a place in a queue for which nobody waits.
// The client renews the lease of these orphans, so nothing else would end them.
#pragma once

#include "client/base/backoff.hpp"
#include "client/base/repeated_failures.hpp"
#include "client/core/hold_registry.hpp"
#include "client/core/submission_queue.hpp"
#include "model/annotated_mutex.hpp"
#include "store/store.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe. Reads the names page by page, with pauses, on the workers that acquire: never on the
// connection that renews leases, and no release waits for it.
//
// It releases nothing that has an owner. An id is registered from before it is sent until nothing uses it any
// more: in ids_in_use while a request uses it, then in the registry while it is a hold, then in ids_in_use
// while a release uses it. Ids are never reused. So if neither contains an id that was read, nothing uses it
// any more. The hold or place of that id is released only if it still stands on the lease that was read.
class reconciliation {
 public:
  reconciliation(client_environment& environment, submission_queue& queue, hold_registry& holds)
      : environment_(environment), queue_(queue), holds_(holds) {}

  // Requests one reading of all names, which begins after that time.
  void request(std::chrono::nanoseconds in = {}) noexcept;
  // The same, repeated at growing intervals, for a ghost whose end nobody has seen: it may still be executed.
  void request_repeatedly() noexcept;
  // Call it once. From now on all names are also read every five to ten minutes, to find orphans of any cause, unless
  // nothing is held and nothing was requested since the last reading. This takes at most a hundredth of the time.
  void begin_routine() noexcept;
  // For the watchdog: sends a step that could not be sent for lack of memory.
  void send_what_is_left() noexcept;
  // As request(), after a change of the database. All its clients notice the change at about the same time,
  // so each begins after a random pause, and they do not all read at once.
  void request_in(const store::database_state& database_state);

 private:
  struct next_step {
    std::uint64_t number;
    std::chrono::nanoseconds pause;
  };
  // Plans the next step, which replaces the one planned before. The caller unlocks the mutex, and then sends
  // the step.
  next_step plan(std::chrono::nanoseconds pause) ROWLOCK_REQUIRES(mutex_);
  void send(const next_step& planned) noexcept;
  void step(store::lock_verbs& session, std::uint64_t number);
  bool begin(std::uint64_t number, std::shared_ptr<lease>& client);
  void read_page(store::lock_verbs& session, const std::shared_ptr<lease>& client);
  void give_back(store::lock_verbs& session, const std::shared_ptr<lease>& client,
                 const std::vector<store::held_entry>& unknown);
  bool is_unknown(const store::held_entry& entry) const;
  void after_step(std::uint64_t number) noexcept;
  // The step that follows the one that has just run. Empty: none is needed.
  std::optional<next_step> following(instant now) ROWLOCK_REQUIRES(mutex_);
  void plan_routine(instant now) ROWLOCK_REQUIRES(mutex_);
  bool is_idle() const ROWLOCK_REQUIRES(mutex_);
  std::uint64_t asked() const;
  instant next_reading() const ROWLOCK_REQUIRES(mutex_);

  client_environment& environment_;
  submission_queue& queue_;
  hold_registry& holds_;

  model::annotated_mutex mutex_;
  // The earliest and the latest requested time for which no reading has begun yet.
  std::optional<instant> first_ ROWLOCK_GUARDED_BY(mutex_);
  instant last_ ROWLOCK_GUARDED_BY(mutex_){};
  std::string identity_ ROWLOCK_GUARDED_BY(mutex_);    // of the server that must be read; empty: any
  std::uint64_t sent_ ROWLOCK_GUARDED_BY(mutex_) = 0;  // the number of the latest step: the others do nothing
  // When that step is due; empty: there is none.
  std::optional<instant> due_ ROWLOCK_GUARDED_BY(mutex_);
  bool runs_ ROWLOCK_GUARDED_BY(mutex_) = false;  // that step runs
  bool succeeded_ ROWLOCK_GUARDED_BY(mutex_) = false;
  instant not_before_ ROWLOCK_GUARDED_BY(mutex_){};  // of the next reading
  // How long after the end of the next reading another one is requested. Empty: none is.
  std::optional<std::chrono::nanoseconds> repeat_in_ ROWLOCK_GUARDED_BY(mutex_);
  instant routine_at_ ROWLOCK_GUARDED_BY(mutex_) = instant::max();
  std::chrono::nanoseconds took_ ROWLOCK_GUARDED_BY(mutex_){0};  // by the latest reading, without its pauses
  std::uint64_t asked_before_ ROWLOCK_GUARDED_BY(mutex_) = 0;    // asked() when that reading began
  backoff between_ ROWLOCK_GUARDED_BY(mutex_){std::chrono::seconds{1}, std::chrono::minutes{1}};
  backoff failing_ ROWLOCK_GUARDED_BY(mutex_) = reconnect_pause();
  repeated_failures failures_ ROWLOCK_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> left_{0};  // the number of a step that could not be sent

  // Changed by the step that runs.
  std::shared_ptr<lease> client_
      ROWLOCK_GUARDED_BY(mutex_);                 // whose leases are read; null: no reading is under way
  std::string after_ ROWLOCK_GUARDED_BY(mutex_);  // the last name that was read
  instant begun_at_ ROWLOCK_GUARDED_BY(mutex_){};
};

}  // namespace rowlock::client_layer
