// What a client's lanes work with.
#pragma once

#include "client/context.hpp"
#include "client/crowded_names.hpp"
#include "client/delivery.hpp"
#include "client/doorbells.hpp"
#include "client/submission_queue.hpp"
#include "client/waiting_room.hpp"
#include "store/store.hpp"

#include <chrono>
#include <functional>

namespace rowlock::client_layer {

class lease_keeper;
class reconciliation;

// Owned by the engine.
struct lane_desk {
  context& shared;
  submission_queue& queue;
  waiting_room& room;
  delivery& deliver;
  recent_releases& releases;
  crowded_names& crowded;
  doorbells& bells;
  lease_keeper& keeper;
  reconciliation& reconcile;
  std::function<store::lease_record(model::lease_id, std::chrono::milliseconds)> explicit_lease;
};

}  // namespace rowlock::client_layer
