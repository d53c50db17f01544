#include "client/hold_releaser.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// The result for a hold that was lost, or whose release another call has begun.
release_result over(const hold_state& hold) {
  return hold.loss() == loss::none ? release_result::released : release_result::lost;
}

}  // namespace

// Whether a release has a connection. A worker that only acquires does not count. While no worker is
// connected, the lease's connection carries releases.
bool hold_releaser::is_connected() const {
  if (!queue_.has_connected_worker()) return fallback_.is_connected();
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
    return worker->carries(worker_role::releases) && worker->slot().is_connected();
  });
}

release_result hold_releaser::await(const release_answer& answer, instant until) {
  if (const auto result = answer->wait(context_.time, std::min(until, end_of_outage()))) {
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
    outage_ends_.store(later(context_.time.now(), context_.settings.close_timeout));
  }
  return outage_ends_.load();
}

// Whether its release may be decided from the lock's row alone.
bool hold_releaser::can_be_fast(const hold_state& hold) const {
  const bool known = hold.mode() == model::lock_mode::exclusive || model::is_shareable(hold.kind());
  return known && hold.lease()->is_renewed() && hold.keep_until() <= context_.time.now();
}

release_ptr hold_releaser::release_of(const hold_state& hold) const {
  auto operation = std::make_shared<release_operation>();
  operation->name = hold.name();
  operation->kind = hold.kind();
  operation->mode = hold.mode();
  operation->fair = hold.is_fair();
  operation->hold = hold.id();
  operation->in_use = queue_.ids().use(hold.id());
  operation->was_held = true;
  operation->lease = hold.lease();
  operation->keep_until = hold.keep_until();
  const bool fast = can_be_fast(hold);
  operation->fast = fast && (!hold.is_contended() || !hold.is_fair());
  operation->try_hand_over = fast && hold.is_fair() && hold.mode() == model::lock_mode::exclusive;
  return operation;
}

release_ptr hold_releaser::operation_of(hold_state& hold) {
  auto operation = release_of(hold);
  // Also removes a hold that close() has ended in another thread, because the registry would keep it, and thereby the
  // engine, alive. Not before the release uses the id, or reconciliation would take the hold for an orphan.
  holds_.remove(hold);
  if (!hold.begin_release()) return nullptr;
  operation->answer = std::make_shared<promised<release_result>>();
  return operation;
}

release_result hold_releaser::release(hold_state& hold) {
  const auto until = context_.time.now() + context_.settings.close_timeout;
  auto operation = operation_of(hold);
  if (!operation) return over(hold);
  const auto answer = operation->answer;
  const auto runs = [&](const auto& worker) { return worker->run_inline(operation, until); };
  if (std::ranges::none_of(workers_, runs)) queue_.submit(std::move(operation));
  return await(answer, until);
}

std::vector<release_result> hold_releaser::release(std::span<const hold_ptr> holds) {
  const auto until = context_.time.now() + context_.settings.close_timeout;
  std::vector<release_ptr> operations;
  for (const auto& hold : holds) operations.push_back(operation_of(*hold));
  auto sent = operations;
  std::erase(sent, nullptr);
  queue_.submit(sent);
  std::vector<release_result> results;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    results.push_back(operations[i] ? await(operations[i]->answer, until) : over(*holds[i]));
  }
  return results;
}

release_answer hold_releaser::send(release_ptr operation) {
  if (!operation) return nullptr;
  auto answer = operation->answer;
  queue_.submit(std::move(operation));
  return answer;
}

release_answer hold_releaser::begin(hold_state& hold) {
  return send(operation_of(hold));
}

release_answer hold_releaser::begin_certain(hold_state& hold) {
  auto operation = operation_of(hold);
  if (operation) operation->must_be_certain = true;
  return send(std::move(operation));
}

void hold_releaser::begin(hold_state& hold, const release_answer& answer) {
  auto operation = operation_of(hold);
  if (!operation) {
    answer->complete(over(hold));
    return;
  }
  operation->answer = answer;
  queue_.submit(std::move(operation));
}

std::vector<release_ptr> hold_releaser::closing_releases(std::span<const hold_ptr> holds) const {
  std::vector<release_ptr> operations;
  for (const auto& hold : holds) {
    operations.push_back(release_of(*hold));
    operations.back()->how = store::durability::durable;
    // Once it has moved away, it belongs to whoever gets the text of the transfer.
    operations.back()->only_on_lease = hold->is_moving_away();
  }
  return operations;
}

}  // namespace rowlock::client_layer
