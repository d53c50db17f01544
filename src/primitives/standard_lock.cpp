#include "primitives/standard_lock.hpp"

#include "model/names.hpp"
#include "primitives/lock_info.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace rowlock::primitives {

wait_limit wait_limit_of(time_limit timeout) {
  if (timeout.length() <= std::chrono::nanoseconds{0}) return {.waits = false};
  return {.waits = true, .limit = timeout.length()};
}

model::lock_definition defined(std::string name, model::lock_kind kind, std::int64_t capacity,
                               const lock_options& lock) {
  model::check_delay(lock.delay);
  return {std::move(name), kind, capacity, lock.fair, lock.delay};
}

named_lock::named_lock(client db, model::lock_definition definition)
    : db_(std::move(db)), definition_(std::move(definition)) {
  model::check_name(definition_.name);
}

rowlock::wanted named_lock::wanted(model::lock_request request) const {
  return access::make<rowlock::wanted>(db_, std::move(request));
}

hold named_lock::acquire(const model::lock_request& request, const wait_limit& how_long,
                         const acquire_options& how) const {
  return access::make<hold>(client_layer::acquire(engine(), request, how_long, how));
}

std::optional<store::lock_info> named_lock::stored(const client_layer::call_limit& limit) const {
  auto found = engine().tasks().result_of(
      [name = name()](store::admin_verbs& session) { return session.show(name); }, limit);
  if (found && !is_same_lock(definition_, definition_of(found->row))) {
    throw client_layer::mismatch(definition_, definition_of(found->row));
  }
  return found;
}

// Reads the queue before the holders, so that a request that is granted in between is seen twice instead of not at all.
std::vector<participant> named_lock::participants() const {
  const auto [queue, stored] = engine().tasks().result_of([name = name()](store::admin_verbs& session) {
    auto waiters = session.queue(name);
    return std::pair{std::move(waiters), session.show(name)};
  });
  std::vector<participant> all;
  if (!stored) return all;
  if (!is_same_lock(definition_, definition_of(stored->row))) {
    throw client_layer::mismatch(definition_, definition_of(stored->row));
  }
  const auto add = [&all](const store::lease_record& lease, bool leads) {
    all.push_back({leads, lease.host, lease.pid, lease.application, lease.user, lease.program});
  };
  const auto is_living = [](const auto& one) { return one.expires_in > std::chrono::milliseconds{0}; };
  model::hold_id leader{};
  if (definition_.kind == model::lock_kind::election && !stored->holders.empty()) {
    const auto& holder = stored->holders.front();
    // An office that rests has a nil holder.
    if (is_living(holder) && !holder.hold.is_nil()) {
      leader = holder.hold;
      add(holder.lease, true);
    }
  }
  for (const auto& one : queue) {
    if (one.alive && is_living(one) && one.waiter.hold != leader) add(one.lease, false);
  }
  return all;
}

std::int64_t named_lock::unused(const client_layer::call_limit& limit) const {
  const auto status = engine().tasks().result_of(
      [name = name()](store::session& session) {
        const store::hold_query query{name, {}};
        return session.find({&query, 1}).front();
      },
      limit);
  if (status.capacity == 0) return definition_.capacity;  // nobody has used it yet
  if (const auto stored = definition_of(name(), status); !is_same_lock(definition_, stored)) {
    throw client_layer::mismatch(definition_, stored);
  }
  return std::max<std::int64_t>(status.capacity - status.in_use, 0);
}

bool named_lock::is_locked() const {
  return std::ranges::any_of(holders(), [](const auto& holder) { return holder.expires_in.count() >= 0; });
}

std::vector<holder_info> named_lock::holders() const {
  const auto found = stored();
  return found ? to_public(*found, engine()).holders : std::vector<holder_info>{};
}

std::vector<waiter_info> named_lock::waiters() const {
  std::vector<waiter_info> shown;
  for (const auto& info : engine().tasks().result_of(
           [name = name()](store::admin_verbs& session) { return session.queue(name); })) {
    shown.push_back(to_public(info, engine()));
  }
  return shown;
}

client_layer::hold_ptr named_lock::state_of(const hold& held) const {
  engine().check_process();
  const auto& state = access::state(held);
  const bool is_of_this_lock =
      state && state->name() == name() && state->kind() == definition_.kind && &state->engine() == &engine();
  if (!is_of_this_lock) {
    throw error(errc::invalid_argument, fmt::format("the hold is not a hold of the {} \"{}\" of this client",
                                                    to_string(definition_.kind), name()));
  }
  if (!held.valid()) throw client_layer::hold_is_over(name());
  return state;
}

bool named_lock::change(client_layer::hold_state& held, mode_and_weight wanted, mode_and_weight in_doubt,
                        const client_layer::lock_decision& decide) const {
  using what = client_layer::outcome::what;
  client_layer::outcome settled;
  try {
    settled = engine().tasks().decide_with_retry(name(), {held.id(), true}, decide);
  } catch (const std::exception& failure) {
    // If memory runs out, the request may have been sent, too.
    const auto* refusal = dynamic_cast<const error*>(&failure);
    if (refusal && !refusal->outcome_unknown()) throw;
    // The request may still be executed.
    held.become_in_doubt(in_doubt.mode, in_doubt.weight);
    const auto known = read(held);
    if (!known || known->mode != wanted.mode || known->weight > wanted.weight) throw;
    held.set_mode(wanted.mode, wanted.weight, known->token);
    return true;
  }
  if (settled.result == what::absent) throw client_layer::hold_is_over(name());
  if (settled.result != what::granted) return false;
  held.set_mode(wanted.mode, wanted.weight, settled.token);
  return true;
}

std::optional<store::holder_info> named_lock::read(const client_layer::hold_state& held) const {
  try {
    const auto& shared = engine().environment();
    const auto found = stored({shared.time.now() + shared.settings.statement_timeout});
    if (!found) return {};
    const auto own =
        std::ranges::find_if(found->holders, [&](const auto& holder) { return holder.hold == held.id(); });
    if (own == found->holders.end()) return {};
    engine().tasks().run(
        [lease = held.lease()->id()](store::session& session) { session.make_durable(lease); },
        {shared.time.now() + shared.settings.statement_timeout});
    return *own;
  } catch (const error&) {
    // The state of the hold stays unknown.
  }
  return {};
}

bool standard_lock::is_locked_by_this_thread() const {
  return locked_.innermost([](const auto& one) {
    return thread_holds::is_written(one) && thread_holds::is_valid(one);
  }) != nullptr;
}

void standard_lock::check_lock() const {
  if (!is_locked_by_this_thread()) return;
  throw error(errc::deadlock, "this thread has already locked \"" + name() +
                                  "\" and would wait for itself; use a recursive_mutex to lock it twice");
}

void standard_lock::check_process() const {
  engine().check_process();
}

const hold& standard_lock::top() const {
  check_process();
  const auto* mine = locked_.innermost(thread_holds::is_written);
  if (mine == nullptr) throw not_locked();
  return mine->held;
}

error standard_lock::not_locked() const {
  return {errc::hold_lost, "\"" + name() + "\" is not locked by this thread; call lock() first"};
}

void standard_lock::lock() {
  check_process();
  check_lock();
  locked_.push(acquire({.waits = true}, {}), 1, 0);
}

bool standard_lock::lock_within(const wait_limit& how_long) {
  auto held = acquire(how_long, {});
  if (!access::state(held)) return false;
  locked_.push(std::move(held), 1, 0);
  return true;
}

// In a forked child unlock() does nothing: a guard object that existed at the fork may call it, but the lock is the
// parent's.
void standard_lock::unlock() {
  if (engine().is_forked()) return;
  const auto* mine = locked_.innermost(thread_holds::is_written);
  if (mine == nullptr) throw not_locked();
  locked_.remove(*mine).release();
}

}  // namespace rowlock::primitives
