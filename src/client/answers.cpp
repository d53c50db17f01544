#include "client/answers.hpp"

#include "client/lease_keeper.hpp"

#include <algorithm>

namespace rowlock::client_layer {

bool answer_busy(context& shared, const acquire_ptr& operation) {
  shared.count.busy.fetch_add(1, std::memory_order_relaxed);
  return operation->answer.complete(nullptr);
}

void deliver_to_waiter(lane_desk& desk, model::hold_id hold, model::token token, bool contended,
                       std::uint64_t checks) {
  auto operation = desk.room.take(hold);
  if (!operation) {
    // It may be on its way into the room, see wait_in_room(). Whoever enters before the hint is taken now;
    // whoever enters after it looks at once.
    desk.keeper.note_hint();
    operation = desk.room.take(hold);
  }
  if (!operation) return;
  operation->contended = contended;
  operation->checks = checks;
  desk.deliver.granted(operation, token);
}

void wait_in_room(lane_desk& desk, const acquire_ptr& operation, std::chrono::microseconds takeover_in,
                  std::uint64_t hints) {
  if (!operation->slow) desk.shared.count.waits.fetch_add(1, std::memory_order_relaxed);
  operation->slow = true;
  operation->arrived = true;
  operation->answer.excuse({});  // somebody has it
  desk.crowded.add(operation->definition.name);
  const auto now = desk.shared.time.now();
  operation->retry = {};
  auto takeover_at = now + takeover_in + desk.shared.skew();
  if (takeover_at > now) {
    operation->guarded.reset();
  } else {
    operation->not_before = takeover_at = now + operation->guarded.next();
  }
  if (!desk.room.enter(operation, takeover_at)) {
    // The client closes: the queue, which takes no more acquires, says so to the caller.
    desk.deliver.withdraw(*operation);
    desk.queue.submit(operation);
    return;
  }
  // The lock may have been handed to it before it was here to be found.
  if (desk.keeper.hints_heard() != hints) desk.keeper.look_for(operation->hold);
  desk.keeper.look_at(std::min(takeover_at, now + desk.shared.settings.poll_interval));
  // Whoever gave up before it was in the room did not find it there.
  if (operation->answer.is_settled()) {
    if (const auto left = desk.room.take(*operation)) desk.deliver.withdraw(*left);
  } else if (operation->leaving.load()) {
    if (const auto left = desk.room.take(*operation)) desk.queue.submit(left);
  }
}

void answer_release(lane_desk& desk, const release_ptr& operation, release_result result) {
  if (result == release_result::released && operation->purpose == release_operation::aim::release) {
    if (operation->was_held) desk.shared.count.released.fetch_add(1, std::memory_order_relaxed);
    if (operation->is_orphan) {
      desk.shared.log(log_level::warning,
                      "hold {} of \"{}\" stood on this client's lease, and nobody here had it: given back",
                      operation->hold.to_string(), operation->name);
    }
    if (operation->how == store::durability::asynchronous &&
        desk.releases.add({operation->name, operation->hold, operation->lease, desk.shared.time.now()})) {
      desk.keeper.renew_soon();
    }
  }
  if (operation->answer) operation->answer->complete(result);
}

}  // namespace rowlock::client_layer
