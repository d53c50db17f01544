// Requests that are decided under the row of their lock: an edit for all of one name, again until each of
// them is settled.
#pragma once

#include "client/chores.hpp"
#include "client/decisions.hpp"
#include "client/lane_desk.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Of one lane, and used by its thread.
class slow_path {
 public:
  slow_path(lane_desk& desk, session_slot& slot) : desk_(desk), shared_(desk.shared), slot_(slot) {}

  void add(acquire_ptr operation);
  void add(release_ptr operation);
  // Answers all that was added, or delays it where somebody keeps the row. Throws what the store throws.
  void settle_all();
  // What settle_all() left without an answer when it threw.
  void take_back(batch& work);

 private:
  struct request {
    acquire_ptr acquire;
    release_ptr release;
    std::shared_ptr<lease> moving_to{};  // the acquire was granted and moves to this explicit-ttl lease
    std::optional<store::lease_record> moving_to_record{};
    instant sent_at{};
    std::uint64_t hints{};  // heard before it was sent
    decision made{};

    const std::string& name() const { return acquire ? acquire->definition.name : release->name; }
  };

  void settle_round(chores& todo, int round);
  decision decide(request& item, const store::lock_view& view) const;
  // Of all requests for one name, each after the other.
  store::lock_change decide(std::span<request> items, const store::lock_view& view) const;
  // Each returns whether the request needs another round.
  bool settle(request& item, store::edit_result result, chores& todo, int round);
  bool settle_acquire(request& item);
  bool settle_release(request& item);
  bool settle_move(request& item);
  void was_absent(const release_ptr& operation);
  void row_was_locked(request& item);

  lane_desk& desk_;
  context& shared_;
  session_slot& slot_;
  std::vector<request> items_;
};

}  // namespace rowlock::client_layer
