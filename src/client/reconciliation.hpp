// Compares what the database says that this client holds with what it knows, and gives back the rest: a grant
// that came late, a release that a fail-over has lost, a place in a queue that nobody waits in. The lease
// that they stand on is renewed with all others, so nothing else would end them.
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

// Thread-safe. It reads page by page of the names, with pauses between them, in the workers that acquire:
// never where leases are renewed, and no release waits for it.
//
// Nothing that is somebody's is given back. An id is known from before it is sent until nobody follows it: to
// ids_in_use as that of a request, then to the registry as that of a hold, then to ids_in_use as that of a
// release. Ids never come again. So what was read under an id that is in neither was over before that was
// asked, and is given back only where it still stands on the lease that was read.
class reconciliation {
 public:
  reconciliation(context& shared, submission_queue& queue, hold_registry& holds, lease_keeper& keeper);

  // All names are read once more, beginning not before that much time has passed.
  void request(std::chrono::nanoseconds in = {});
  // The same, and again at growing intervals: what nobody has seen end may do something yet.
  void request_repeatedly();
  // From now on all is read every five to ten minutes too, whatever an orphan may come from; not where
  // nothing is held and nothing was asked for since, and for a hundredth of the time at most. Once.
  void begin_routine();
  // The same as request() where the database is another one, or was not what it seemed. All its clients find
  // that out at about the same time, and should not all read at once.
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
  std::optional<instant> first_;  // the earliest time that was asked for and that no reading has met
  instant last_{};                // and the latest
  std::string identity_;          // of the database where that was asked; empty: of any
  std::uint64_t sent_ = 0;        // the number of the step that counts
  std::optional<instant> due_;    // when that comes; empty: there is none
  bool runs_ = false;             // it is being carried
  bool succeeded_ = false;
  instant not_before_{};                               // of the next reading
  std::optional<std::chrono::nanoseconds> repeat_in_;  // after the next reading
  instant routine_at_ = instant::max();
  std::chrono::nanoseconds took_{0};  // the latest reading, without its pauses
  std::uint64_t asked_before_ = 0;    // asked() when it began
  backoff between_{std::chrono::seconds{1}, std::chrono::minutes{1}};
  backoff failing_ = reconnect_pause();
  repeated_failures failures_;

  // Of the step that runs.
  std::shared_ptr<lease> client_;  // whose leases are read; null: no reading has begun
  std::string after_;              // the last name that was read
  instant begun_at_{};
};

}  // namespace rowlock::client_layer
