#include "client/chores.hpp"

#include "client/answers.hpp"
#include "client/lease_keeper.hpp"

#include <algorithm>
#include <memory>

namespace rowlock::client_layer {

namespace {

// Somebody may look on at it. The row says nothing where it was not written: only a leader proclaims.
bool is_of_an_office(const store::lock_change& change) {
  return change.value ||
         (change.row && change.row->kind == model::lock_kind::election && change.enqueue.empty());
}

}  // namespace

void chores::add(lane_desk& desk, const std::string& name, const decision& made) {
  const auto mine = desk.keeper.lease();
  for (const auto& next : made.outcome.next) {
    if (mine && next.client == mine->id()) {
      deliver_to_waiter(desk, next.waiter.hold, next.token, made.change.row->has_queue, checks_);
    } else {
      wake_.push_back({next.client, next.waiter.hold});
    }
  }
  for (const auto& client : made.outcome.wake) {
    if (mine && client == mine->id()) {
      desk.keeper.note_hint();
      desk.keeper.look_at(desk.shared.time.now());
    } else {
      wake_.push_back({client});
    }
  }
  for (const auto& client : made.change.notices) wake_.push_back({client});
  if (is_of_an_office(made.change)) wake_.push_back({onlookers()});
  if (made.outcome.more) desk.queue.submit(sweep_of(name));
  kill_.insert(kill_.end(), made.outcome.leases.begin(), made.outcome.leases.end());
  refresh_ = refresh_ || made.outcome.result == outcome::what::foreign;
}

void chores::add_missing(const model::lock_definition& asked) {
  if (create_.empty() || create_.back().name != asked.name) create_.push_back(asked);
}

}  // namespace rowlock::client_layer
