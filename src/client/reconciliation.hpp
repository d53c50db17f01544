// Compares what the database has on this client's leases with what the client knows, and releases the rest: a
// grant that came late, a release that a fail-over has lost, a place in a queue that nobody waits in. The
// lease under them is renewed with all others, so nothing else would end them.
#pragma once

#include "client/backoff.hpp"
#include "client/hold_registry.hpp"
#include "client/repeated_failures.hpp"
#include "client/submission_queue.hpp"
#include "store/store.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

class lease_keeper;

// Thread-safe. It reads the names page by page, with pauses, in the workers that acquire: never on the
// connection that renews leases, and no release waits for it.
//
// It releases nothing that has an owner. An id is known from before it is sent until nobody follows it: to
// ids_in_use while a request uses it, then to the registry while it is a hold, then to ids_in_use while a
// release uses it. Ids never come again. So what was read under an id that is in neither was over before they
// were asked. It is released only if it still stands on the lease that was read.
class reconciliation {
 public:
  reconciliation(context& shared, submission_queue& queue, hold_registry& holds, lease_keeper& keeper);

  // Has all names read once more, beginning no earlier than after that time.
  void request(std::chrono::nanoseconds in = {});
  // The same, repeated at growing intervals: a ghost that nobody has seen end may still do something.
  void request_repeatedly();
  // Call it once. From now on all is also read every five to ten minutes, to find orphans of any cause. It is
  // not read if nothing is held and nothing was requested since the last reading. All this takes a hundredth
  // of the time at most.
  void begin_routine();
  // As request(), when the database is another one, or was not what it seemed. All its clients notice that at
  // about the same time. So each begins after a random pause, and they do not all read at once.
  void request_in(const store::database_state& database_state);

 private:
  void send(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds pause);
  void step(store::session& session, std::uint64_t number);
  bool begin(std::uint64_t number);
  void read_page(store::session& session);
  void give_back(store::session& session, const std::vector<store::held_entry>& unknown);
  bool is_unknown(const store::held_entry& entry) const;
  void after_step(std::uint64_t number);
  void plan_routine(instant now);
  bool is_idle() const;
  std::uint64_t asked() const;
  instant next_reading() const;

  context& context_;
  submission_queue& queue_;
  hold_registry& holds_;
  lease_keeper& keeper_;

  std::mutex mutex_;
  std::optional<instant> first_;  // the earliest requested time that no reading has met
  instant last_{};                // and the latest
  std::string identity_;          // of the database that is meant; empty: any
  std::uint64_t sent_ = 0;        // the number of the step that counts
  std::optional<instant> due_;    // when that step is due; empty: there is none
  bool runs_ = false;             // that step runs
  bool succeeded_ = false;
  instant not_before_{};                               // of the next reading
  std::optional<std::chrono::nanoseconds> repeat_in_;  // after the next reading
  instant routine_at_ = instant::max();
  std::chrono::nanoseconds took_{0};  // the latest reading, without its pauses
  std::uint64_t asked_before_ = 0;    // asked() when it began
  backoff between_{std::chrono::seconds{1}, std::chrono::minutes{1}};
  backoff failing_ = reconnect_pause();
  repeated_failures failures_;

  // Used by the step that runs.
  std::shared_ptr<lease> client_;  // whose leases are read; null: no reading has begun
  std::string after_;              // the last name that was read
  instant begun_at_{};
};

}  // namespace rowlock::client_layer
