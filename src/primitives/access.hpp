// How rowlock's own code makes the public classes, and reaches what stands behind them.
#pragma once

#include "client/engine.hpp"

#include <rowlock/acquire_all.hpp>
#include <rowlock/client.hpp>
#include <rowlock/counting_semaphore.hpp>
#include <rowlock/election.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>

#include <memory>
#include <utility>

namespace rowlock::primitives {

struct access {
  // Calls the private constructor: make<hold>(state).
  template <class Made, class... Arguments>
  static Made make(Arguments&&... arguments) {
    return Made(std::forward<Arguments>(arguments)...);
  }

  static const std::shared_ptr<client_layer::engine>& engine(const client& db) noexcept { return db.engine_; }
  static client_layer::task_executor& tasks(const client& db) { return engine(db)->tasks(); }
  static const client_layer::hold_ptr& state(const hold& held) noexcept { return held.state_; }
  static const client& db(const wanted& one) noexcept { return one.db_; }
  static const model::lock_request& lock(const wanted& one) noexcept { return *one.lock_; }
  static const standard_lock& lock(const exclusive_lock& lock) noexcept { return *lock.lock_; }
  static standard_lock& lock(exclusive_lock& lock) noexcept { return *lock.lock_; }
  static const semaphore_lock& lock(const counting_semaphore& lock) noexcept { return *lock.lock_; }
  static const acquirer& lock(const election& office) noexcept { return *office.office_; }
};

}  // namespace rowlock::primitives
