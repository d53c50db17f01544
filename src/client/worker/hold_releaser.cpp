#include "client/worker/hold_releaser.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// The result for a hold that was lost, or whose release another call has begun.
release_result over(const hold_state& hold) {
  return hold.loss() == loss::none ? release_result::released : release_result::lost;
}

}  // namespace

// Whether there is a connection that carries releases. That of a worker that only acquires does not count.
// While no worker is connected, the lease's connection carries releases.
bool hold_releaser::is_connected() const {
  if (!queue_.has_connected_worker()) return fallback_.is_connected();
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
    return worker->carries(worker_role::releases) && worker->slot().is_connected();
  });
}

release_result hold_releaser::await(const release_answer& answer, instant until) {
  if (const auto result = answer->wait(environment_.time, std::min(until, end_of_outage()))) {
    outage_ends_.store(instant::max());
    return *result;
  }
  return release_result::unknown;
}

// The first caller that waits for a connection sets the deadline for all that wait for it.
instant hold_releaser::end_of_outage() {
  if (is_connected()) {
    outage_ends_.store(instant::max());
  } else if (outage_ends_.load() == instant::max()) {
    outage_ends_.store(later(environment_.time.now(), environment_.settings.close_timeout));
  }
  return outage_ends_.load();
}

// Whether the hold's release may be decided from the lock's row alone.
bool hold_releaser::can_be_fast(const hold_state& hold) const {
  const bool known = hold.mode() == model::lock_mode::exclusive || model::is_shareable(hold.kind());
  return known && hold.keep_until() <= environment_.time.now();
}

release_ptr hold_releaser::release_of(hold_state& hold) const noexcept {
  auto operation = hold.take_ending();
  try {
    operation->in_use = queue_.ids().use(hold.id());
  } catch (...) {
    // The queue marks the id later. Until then reconciliation may release the hold, too.
  }
  operation->was_held = true;
  const bool fast = can_be_fast(hold);
  operation->fast = fast && (!hold.is_contended() || !hold.is_fair());
  // A hand-over ends no lease.
  operation->try_hand_over =
      fast && hold.lease()->is_renewed() && hold.is_fair() && hold.mode() == model::lock_mode::exclusive;
  return operation;
}

release_ptr hold_releaser::operation_of(hold_state& hold) noexcept {
  release_ptr operation;
  if (hold.begin_release()) operation = release_of(hold);
  // Also removes a hold that close() has ended in another thread, because the registry would keep the hold,
  // and thereby the engine, alive. The release must have marked the id as in use before, or reconciliation
  // would take the hold for an orphan.
  holds_.remove_ended(hold);
  return operation;
}

release_result hold_releaser::release(hold_state& hold) {
  const auto until = environment_.time.now() + environment_.settings.close_timeout;
  auto operation = operation_of(hold);
  if (!operation) return over(hold);
  const auto answer = operation->answer;
  const auto runs = [&](const auto& worker) { return worker->run_inline(operation, until); };
  if (std::ranges::none_of(workers_, runs)) queue_.submit(std::move(operation));
  return await(answer, until);
}

void hold_releaser::release(std::span<const hold_ptr> holds, std::span<release_answer> room,
                            std::span<release_result> results) {
  const auto until = environment_.time.now() + environment_.settings.close_timeout;
  release_list sent;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    auto operation = operation_of(*holds[i]);
    if (!operation) continue;
    room[i] = operation->answer;
    sent.push(std::move(operation));
  }
  queue_.submit(std::move(sent));
  for (std::size_t i = 0; i < holds.size(); ++i) {
    results[i] = room[i] ? await(room[i], until) : over(*holds[i]);
  }
}

release_answer hold_releaser::send(release_ptr operation) noexcept {
  if (!operation) return nullptr;
  operation->goes_first = true;
  auto answer = operation->answer;
  queue_.submit(std::move(operation));
  return answer;
}

release_answer hold_releaser::begin(hold_state& hold) noexcept {
  return send(operation_of(hold));
}

release_answer hold_releaser::begin_certain(hold_state& hold) noexcept {
  auto operation = operation_of(hold);
  if (operation) operation->must_be_certain = true;
  return send(std::move(operation));
}

void hold_releaser::give_back(hold_state& hold) noexcept {
  hold.set_keep_until({});
  begin(hold);
}

void hold_releaser::begin(hold_state& hold, const release_answer& answer) noexcept {
  auto operation = operation_of(hold);
  if (!operation) {
    answer->complete(over(hold));
    return;
  }
  operation->answer = answer;
  send(std::move(operation));
}

release_ptr hold_releaser::closing_release(hold_state& hold) const noexcept {
  auto operation = release_of(hold);
  operation->answer.reset();
  operation->how = store::durability::durable;
  // Once the hold has moved away, it belongs to whoever gets the text of the transfer.
  operation->only_on_lease = hold.is_moving_away();
  return operation;
}

}  // namespace rowlock::client_layer
