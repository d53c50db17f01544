#include "client/grants.hpp"

#include "client/lease_keeper.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

// Somebody may look on at it. The row says nothing where it was not written: only a leader proclaims.
bool is_of_an_office(const store::lock_change& change) {
  return change.value ||
         (change.row && change.row->kind == model::lock_kind::election && change.enqueue.empty());
}

}  // namespace

void deliver_to_waiter(lane_desk& desk, hold_id hold, model::token token, bool contended) {
  const auto operation = desk.room.take(hold);
  if (!operation) return;
  operation->contended = contended;
  desk.deliver.granted(operation, token);
}

std::vector<lease_id> deliver_grants(lane_desk& desk, const std::string& name, const decision& made) {
  std::vector<lease_id> wake;
  const auto mine = desk.keeper.lease();
  for (const auto& next : made.outcome.next) {
    if (mine && next.client == mine->id()) {
      deliver_to_waiter(desk, next.waiter.hold, next.token, made.change.row->has_queue);
    } else if (std::find(wake.begin(), wake.end(), next.client) == wake.end()) {
      wake.push_back(next.client);
    }
  }
  for (const auto& client : made.outcome.wake) {
    if (mine && client == mine->id()) {
      desk.keeper.look_at(desk.shared.time.now());
    } else if (std::find(wake.begin(), wake.end(), client) == wake.end()) {
      wake.push_back(client);
    }
  }
  for (const auto& client : made.change.notices) {
    if (std::find(wake.begin(), wake.end(), client) == wake.end()) wake.push_back(client);
  }
  if (is_of_an_office(made.change)) wake.push_back(onlookers());
  if (made.outcome.more) {
    auto sweep = std::make_shared<release_operation>();
    sweep->name = name;
    sweep->purpose = release_operation::aim::sweep;
    desk.queue.submit(std::move(sweep));
  }
  return wake;
}

}  // namespace rowlock::client_layer
