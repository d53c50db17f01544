#include "client/after_commit.hpp"

#include "client/lease_keeper.hpp"
#include "client/worker_context.hpp"

#include <algorithm>
#include <memory>

namespace rowlock::client_layer {

namespace {

// Whether the change may concern office watchers.
bool is_of_an_office(const decision& made) {
  const auto& change = made.change;
  if (!change.row) return change.value && made.outcome.stored.kind == model::lock_kind::election;
  return change.row->kind == model::lock_kind::election && change.enqueue.empty();
}

}  // namespace

void after_commit::add(worker_context& client, const std::string& name, const decision& made) {
  const auto mine = client.keeper.lease();
  for (const auto& next : made.outcome.next) {
    if (mine && next.client == mine->id()) {
      client.complete.granted_to_waiter(next.waiter.hold, next.token, made.change.row->has_queue, checks_);
    } else {
      wake_.push_back({next.client, next.waiter.hold});
    }
  }
  for (const auto& whom : made.outcome.wake) {
    if (mine && whom == mine->id()) {
      client.keeper.count_wakeup();
      client.keeper.look_at(client.shared.time.now());
    } else {
      wake_.push_back({whom});
    }
  }
  for (const auto& whom : made.change.notices) wake_.push_back({whom});
  if (is_of_an_office(made)) wake_.push_back({office_watchers()});
  if (made.outcome.more) client.queue.submit(sweep_of(name));
  kill_.insert(kill_.end(), made.outcome.leases.begin(), made.outcome.leases.end());
  refresh_ = refresh_ || made.outcome.result == outcome::what::foreign;
}

void after_commit::add_missing(const model::lock_definition& asked) {
  if (create_.empty() || create_.back().name != asked.name) create_.push_back(asked);
}

}  // namespace rowlock::client_layer
