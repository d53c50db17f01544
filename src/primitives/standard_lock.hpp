// The implementation of exclusive_lock: one lock of one client, and what lock() has locked.
#pragma once

#include "client/call/acquire_call.hpp"
#include "client/core/hold_state.hpp"
#include "model/lock.hpp"
#include "primitives/access.hpp"
#include "primitives/thread_holds.hpp"

#include <rowlock/acquire_all.hpp>
#include <rowlock/client.hpp>
#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/options.hpp>
#include <rowlock/participant.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rowlock::primitives {

using client_layer::wait_limit;

// Zero or less means that the call does not wait.
wait_limit wait_limit_of(time_limit timeout);

// A lock with the given options. Throws error(invalid_argument).
model::lock_definition defined(std::string name, model::lock_kind kind, std::int64_t capacity,
                               const lock_options& lock);

// The mode in which a hold has a lock, and the part of its capacity.
struct mode_and_weight {
  model::lock_mode mode = model::lock_mode::shared;
  std::int64_t weight = 1;
};

// Acquires one lock of one client, changes its holds, and reads what is known about it.
class named_lock {
 public:
  named_lock(client db, model::lock_definition definition);

  const std::string& name() const noexcept { return definition_.name; }
  const model::lock_definition& definition() const noexcept { return definition_; }

  const client& db() const noexcept { return db_; }
  client_layer::engine& engine() const noexcept { return *access::engine(db_); }
  // Requests the lock exclusively, or shared.
  model::lock_request exclusive() const { return {definition_}; }
  model::lock_request shared(std::int64_t weight = 1) const {
    return {definition_, model::lock_mode::shared, weight};
  }
  rowlock::wanted wanted(model::lock_request request) const;  // for acquire_all and async

  // Empty: not granted.
  hold acquire(const model::lock_request& request, const wait_limit& how_long,
               const acquire_options& how) const;

  // Gives the hold the share `wanted` by running the decision. False: the decision refuses. If the answer is lost,
  // repeats the request, and finally reads the result. If that fails too, the hold counts as `in_doubt`. Throws
  // error(invalid_argument) for a hold of another lock, kind of lock or client, error(hold_lost) if the hold is over.
  template <class Decide>
  bool change(const hold& held, mode_and_weight wanted, mode_and_weight in_doubt, Decide decide) const {
    const auto state = state_of(held);
    return change(*state, wanted, in_doubt,
                  [decide, id = state->id(), skew = engine().environment().skew()](
                      const store::lock_view& view) { return decide(view, id, skew); });
  }

  // The lock as last written. Empty: nobody has used it yet. Throws error(mismatch).
  std::optional<store::lock_info> stored(const client_layer::call_limit& limit = {}) const;
  // The leader of an election, and the waiters in queue order. Throws error(mismatch).
  std::vector<participant> participants() const;
  // How much of the lock's capacity is free, as last written.
  std::int64_t unused(const client_layer::call_limit& limit = {}) const;
  bool is_locked() const;
  std::vector<holder_info> holders() const;
  std::vector<waiter_info> waiters() const;

 private:
  client_layer::hold_ptr state_of(const hold& held) const;
  bool change(client_layer::hold_state& held, mode_and_weight wanted, mode_and_weight in_doubt,
              const client_layer::lock_decision& decide) const;
  // The stored hold, read without locking its row, because somebody may keep the row locked. Empty: unknown.
  std::optional<store::holder_info> read(const client_layer::hold_state& held) const;

  client db_;
  model::lock_definition definition_;
};

class standard_lock {
 public:
  standard_lock(client db, model::lock_definition definition)
      : acquire_{std::move(db), std::move(definition)} {}
  standard_lock(const standard_lock&) = delete;
  standard_lock& operator=(const standard_lock&) = delete;
  virtual ~standard_lock() = default;

  const named_lock& acquiring() const noexcept { return acquire_; }
  const std::string& name() const noexcept { return acquire_.name(); }
  client_layer::engine& engine() const noexcept { return acquire_.engine(); }

  virtual hold acquire(const wait_limit& how_long, const acquire_options& how) const {
    return access::make<hold>(client_layer::acquire(engine(), acquire_.exclusive(), how_long, how));
  }

  // The standard's names, as in exclusive_lock.
  void lock();
  bool lock_within(const wait_limit& how_long);
  void unlock();
  const hold& top() const;
  bool is_locked_by_this_thread() const;

 protected:
  // Throws error(forked) in a forked child, which must not wait for a mutex that another thread of its parent may
  // have locked.
  void check_process() const;
  // Throws error(deadlock) if the calling thread would wait for itself in lock().
  virtual void check_lock() const;

  error not_locked() const;
  thread_holds& locked() noexcept { return locked_; }
  const thread_holds& locked() const noexcept { return locked_; }

 private:
  named_lock acquire_;
  thread_holds locked_;
};

}  // namespace rowlock::primitives
