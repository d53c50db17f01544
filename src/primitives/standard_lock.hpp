// The standard's lock()/unlock() over holds, shared by the primitives that offer them.
#pragma once

#include "client/engine.hpp"
#include "model/lock.hpp"

#include <rowlock/acquire_all.hpp>
#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rowlock::primitives {

using client_layer::demand;

// A lock of which one at a time may be the exclusive holder. Throws error(invalid_argument).
model::lock_definition defined(std::string name, model::lock_kind kind, std::int64_t capacity,
                               const lock_options& lock);

// Acquires one lock of one client, each form once, and reads what is known of it.
class acquirer {
 public:
  acquirer(client db, model::lock_definition definition);

  const client& db() const noexcept { return db_; }
  const std::string& name() const noexcept { return definition_.name; }
  const model::lock_definition& definition() const noexcept { return definition_; }

  client_layer::engine& engine() const noexcept { return *db_.engine(); }
  rowlock::wanted wanted(const demand& what = {}) const;  // together with others

  hold acquire(const acquire_options& how, const demand& what = {}) const;
  std::optional<hold> try_acquire(const acquire_options& how, const demand& what = {}) const;
  std::optional<hold> try_acquire_for(time_limit timeout, const acquire_options& how,
                                      const demand& what = {}) const;

  // What is stored of it, as last written. Empty: nobody has used it yet. Throws error(mismatch).
  std::optional<store::lock_info> stored(const client_layer::call_limit& limit = {}) const;
  // How much of its capacity is free, as last written.
  std::int64_t unused(const client_layer::call_limit& limit = {}) const;

 private:
  client db_;
  model::lock_definition definition_;
};

// What lock() has locked, by thread. Thread-safe. Two threads are here at once when one's hold was lost and
// the other has been granted meanwhile.
class locked_holds {
 public:
  explicit locked_holds(std::string name) : name_(std::move(name)) {}

  // The calling thread has locked.
  void push(hold held);
  // The calling thread's innermost hold. Throws error(hold_lost) when it has locked nothing.
  hold pop();
  const hold& top() const;
  // Whether the calling thread has a hold that still stands.
  bool is_mine() const;

 private:
  std::size_t innermost() const;

  std::string name_;
  mutable std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<hold>>> held_;  // by their threads' owner ids
};

class standard_lock {
 public:
  standard_lock(client db, model::lock_definition definition)
      : acquire_{std::move(db), std::move(definition)}, locked_{acquire_.name()} {}

  const acquirer& acquiring() const noexcept { return acquire_; }
  locked_holds& locked() noexcept { return locked_; }
  // As the standard's. Nothing in a forked child, where a guard that was alive at the fork ends: the lock is
  // the parent's.
  void unlock() {
    if (!acquire_.engine().is_forked()) locked_.pop().release();
  }

 private:
  acquirer acquire_;
  locked_holds locked_;
};

}  // namespace rowlock::primitives
