#include "client/core/request_settler.hpp"

#include <algorithm>

namespace rowlock::client_layer {

void request_settler::granted(const acquire_ptr& operation, model::token token) {
  try {
    settle(operation, token);
  } catch (...) {
    operation->progress.sent();
    operation->progress.failed(false);
    throw;
  }
}

void request_settler::settle(const acquire_ptr& operation, model::token token) {
  operation->progress.granted();
  if (is_rendezvous(operation->definition.kind)) return settle_rendezvous(operation, token);
  if (operation->ttl && operation->lease->is_renewed()) {
    // A hand-over has granted it on the client's lease. An edit moves the hold to a lease of its own.
    operation->progress.needs_edit();
    queue_.submit_again(operation);
    return;
  }
  const auto keep_until = operation->min_hold > std::chrono::milliseconds{0}
                              ? environment_.time.now() + operation->min_hold
                              : instant{};
  const auto hold = make_hold(granted_to(*operation, token), operation->check_count,
                              operation->progress.was_contended(), keep_until);
  if (!hold) return restart(operation, true);
  // From here on nothing needs memory.
  const auto ending = operation->ending;
  operation->ending.reset();
  if (operation->answer.complete(hold, [&] { note_grant(*hold, operation->called_at); })) return;
  hold->begin_release();
  holds_.remove(*hold);
  // A client that is being closed may have found the hold in the registry, and then it has sent the ending.
  if (hold->loss() != loss::closed) operation->ending = ending;
  queue_.withdraw(*operation);
}

granted_hold request_settler::granted_to(const acquire_operation& operation, model::token token) {
  return {operation.definition, operation.hold,   token,           operation.lease,
          operation.mode,       operation.weight, operation.ending};
}

hold_ptr request_settler::make_hold(granted_hold&& granted, std::uint64_t check_count, bool contended,
                                    instant keep_until) {
  const auto now = environment_.time.now();
  if (!granted.lease->is_valid(now)) return nullptr;
  auto hold = make_hold_(granted);
  hold->set_granted_at(granted.at == instant{} ? now : granted.at);
  hold->set_contended(contended);
  hold->set_keep_until(keep_until);
  return holds_.add(hold, check_count) ? hold : nullptr;
}

// A latch stays open, and a generation complete, even if the waiter's lease is over by now. Nothing is held,
// so a caller that gives up has nothing to release.
void request_settler::settle_rendezvous(const acquire_ptr& operation, model::token token) {
  auto member = granted_to(*operation, token);
  member.ending.reset();
  const auto result = make_hold_(member);
  result->begin_release();
  operation->answer.complete(result);
  if (operation->definition.kind == model::lock_kind::barrier) queue_.withdraw(*operation);
}

void request_settler::granted_to_waiter(model::hold_id hold, model::token token, bool contended,
                                        std::uint64_t check_count) noexcept {
  auto operation = waiters_.take(hold);
  if (!operation) {
    // The operation may be about to enter the registry, see queued(). If it enters before the count rises, it
    // is found here; if it enters later, queued() sees the new count and has it looked up at once.
    agenda_.count_wakeup();
    operation = waiters_.take(hold);
  }
  if (operation) deliver(std::move(operation), token, contended, check_count);
}

void request_settler::deliver(acquire_ptr operation, model::token token, bool contended,
                              std::uint64_t check_count) noexcept {
  operation->progress.granted(contended);
  operation->check_count = check_count;
  try {
    granted(operation, token);
  } catch (...) {
    queue_.submit_again(std::move(operation));
  }
}

bool request_settler::busy(const acquire_ptr& operation) noexcept {
  environment_.count.busy.fetch_add(1, std::memory_order_relaxed);
  return operation->answer.complete(nullptr);
}

void request_settler::queued(const acquire_ptr& operation, std::chrono::microseconds takeover_in,
                             std::uint64_t wakeups) {
  if (!operation->progress.was_queued()) environment_.count.waits.fetch_add(1, std::memory_order_relaxed);
  operation->progress.queued();
  operation->answer.note_failure({});  // the lock is known to be held
  contended_.add(operation->definition.name);
  const auto now = environment_.time.now();
  operation->retry = {};
  auto takeover_at = now + takeover_in + environment_.skew();
  if (takeover_at > now) {
    operation->guarded.reset();
  } else {
    operation->not_before = takeover_at = now + operation->guarded.next();
  }
  // As soon as the operation is in the registry, another thread may take it and give it a new id.
  const auto hold = operation->hold;
  if (!waiters_.enter(operation, takeover_at)) {
    // The client is closing: the queue accepts no more acquires, withdraws this one and fails it with error(closed).
    queue_.submit_again(operation);
    return;
  }
  // From here on the operation belongs to whoever takes it out of the registry, and nothing may fail.
  // The lock may have been granted to the operation before it could be found in the registry.
  if (agenda_.wakeups() != wakeups) agenda_.look_up({&hold, 1});
  agenda_.look_at(std::min(takeover_at, now + environment_.settings.poll_interval));
  // A caller that gave up before the operation entered the registry did not find it there.
  if (operation->answer.is_complete()) {
    if (const auto left = waiters_.take(*operation)) queue_.withdraw(*left);
  } else if (operation->answer.is_leaving()) {
    if (auto left = waiters_.take(*operation)) queue_.submit_again(std::move(left));
  }
}

void request_settler::released(const release_ptr& operation, release_result result) {
  const auto now = environment_.time.now();
  if (result == release_result::released && operation->purpose == release_operation::aim::release) {
    if (operation->how == store::durability::asynchronous &&
        releases_.add({operation->name, operation->hold, operation->lease, now})) {
      agenda_.renew_soon();
    }
    // From here on nothing needs memory.
    if (operation->was_held) environment_.count.released.fetch_add(1, std::memory_order_relaxed);
    if (operation->is_orphan) log_orphan(*operation);
  }
  if (operation->ends) note_end(*operation, result, now);
  if (operation->answer) operation->answer->complete(result);
}

void request_settler::note_grant(const hold_state& hold, instant called_at) const noexcept {
  const auto waited = hold.grant().at - called_at;
  environment_.count.acquired.fetch_add(1, std::memory_order_relaxed);
  environment_.count.waited.add(waited);
  environment_.tell([&] {
    auto event = hold.event(hold_event::kind::granted);
    event.waited = waited;
    return event;
  });
}

void request_settler::note_end(const release_operation& release, release_result result,
                               instant now) const noexcept {
  const auto held = now - release.ends->at;
  const bool stood = result == release_result::released;
  if (stood) {
    environment_.count.held.add(held);
  } else {
    environment_.count.lost(loss::none).fetch_add(1, std::memory_order_relaxed);
  }
  environment_.tell([&] {
    hold_event event;
    event.what = stood ? hold_event::kind::released : hold_event::kind::lost;
    event.name = release.name;
    event.id = release.hold;
    event.token = fencing_token{release.ends->token};
    event.mode = release.mode;
    event.held = held;
    return event;
  });
}

// An orphan on an explicit-ttl lease is normally a hold that has expired here: the database keeps it until
// somebody wants the lock.
void request_settler::log_orphan(const release_operation& release) const {
  if (!release.lease->is_renewed()) {
    return environment_.log(log_level::info,
                            "released hold {} of \"{}\", whose ttl has ended or whose acquire was given up",
                            release.hold, release.name);
  }
  environment_.log(
      log_level::warning,
      "released hold {} of \"{}\", which belonged to this client's lease but was unknown to the client",
      release.hold, release.name);
}

void request_settler::begin_anew(acquire_operation& operation, bool withdraws) {
  const auto hold = operation.hold.sibling();
  auto in_use = queue_.ids().use(hold);
  auto ending = ending_of(operation.definition.name);
  const bool outlives_client = operation.moving_to || (operation.lease && !operation.lease->is_renewed());
  if (withdraws || outlives_client) queue_.withdraw(operation);
  operation.begin_anew(hold, std::move(ending));
  operation.answer.in_use = std::move(in_use);
}

void request_settler::restart(const acquire_ptr& operation, bool withdraws) {
  begin_anew(*operation, withdraws);
  queue_.submit_again(operation);
}

}  // namespace rowlock::client_layer
