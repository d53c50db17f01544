#include "client/delivery.hpp"

namespace rowlock::client_layer {

void delivery::granted(const acquire_ptr& operation, model::token token) {
  if (gathers(operation->definition.kind)) return passed(operation, token);
  if (operation->ttl && operation->lease->is_renewed()) {
    // One more step, on the slow path, moves the hold to a lease of its own.
    operation->slow = true;
    queue_.submit(operation);
    return;
  }
  const auto hold = make_hold_(*operation, token);
  if (!operation->lease->is_valid(shared_.time.now()) || !holds_.add(hold, operation->checks)) {
    withdraw(*operation);
    restart(operation);
    return;
  }
  if (operation->answer.complete(hold)) {
    shared_.count.acquired.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  hold->begin_release();
  holds_.remove(*hold);
  withdraw(*operation);
}

// That a latch is open or a generation complete stays true when the lease is gone. Nothing is held.
void delivery::passed(const acquire_ptr& operation, model::token token) {
  operation->answer.complete(make_hold_(*operation, token));
  if (operation->definition.kind == model::lock_kind::barrier) withdraw(*operation);
}

void delivery::withdraw(const acquire_operation& operation) {
  withdraw(operation.definition.name, operation.hold, operation.lease);
}

void delivery::withdraw(const std::string& name, model::hold_id hold,
                        const std::shared_ptr<client_layer::lease>& lease) {
  auto release = std::make_shared<release_operation>();
  release->name = name;
  release->hold = hold;
  release->lease = lease;
  queue_.submit(std::move(release));
}

void delivery::restart(const acquire_ptr& operation) {
  operation->lease.reset();
  operation->slow = false;
  operation->in_doubt = false;
  operation->tried = false;
  operation->contended = false;
  operation->hold = operation->hold.sibling();
  queue_.submit(operation);
}

}  // namespace rowlock::client_layer
