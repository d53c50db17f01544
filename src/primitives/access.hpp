// Lets rowlock's own code construct the public classes and reach their implementations.
#pragma once

#include "client/core/hold_state.hpp"
#include "client/engine.hpp"

#include <rowlock/acquire_all.hpp>
#include <rowlock/barrier.hpp>
#include <rowlock/client.hpp>
#include <rowlock/counting_semaphore.hpp>
#include <rowlock/election.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/latch.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>

#include <memory>
#include <utility>
#include <vector>

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
  // Ends a hold without releasing it. `releases` is the state that the caller must release; if it is null, `otherwise`
  // is the result.
  struct ended {
    client_layer::hold_ptr releases;
    release_result otherwise = release_result::lost;
  };
  static ended end(hold& held) noexcept {
    if (!held.state_ || held.is_over_) return {nullptr, held.state_ ? held.result_ : release_result::lost};
    held.is_over_ = true;
    held.result_ = held.state_->loss() == loss::none ? release_result::released : release_result::lost;
    return {held.state_->leave() ? held.state_ : nullptr, held.result_};
  }
  // Records the result of the release of a hold that end() has ended.
  static void settle(hold& held, release_result result) noexcept { held.result_ = result; }
  static const client& db(const wanted& one) noexcept { return one.db_; }
  static const model::lock_request& lock(const wanted& one) noexcept { return *one.lock_; }
  static const standard_lock& lock(const exclusive_lock& lock) noexcept { return *lock.lock_; }
  static standard_lock& lock(exclusive_lock& lock) noexcept { return *lock.lock_; }
  static const semaphore_lock& lock(const counting_semaphore& lock) noexcept { return *lock.lock_; }
  static const named_lock& lock(const election& office) noexcept { return *office.office_; }
  static wanted wait(const latch& on);
  // The request of acquire_all. Throws error(invalid_argument) for an empty list, or several clients.
  struct joint_request {
    client db;
    std::vector<model::lock_request> wanted;
  };
  static joint_request locks(const std::vector<wanted>& all);
  static hold_set holds(std::vector<client_layer::hold_ptr> granted);
  static const client& db(const barrier& at) noexcept;
  static const model::lock_definition& definition(const barrier& at) noexcept;
};

}  // namespace rowlock::primitives
