// Hands grants to those who asked for them, and gives back those that nobody waits for any more.
#pragma once

#include "client/context.hpp"
#include "client/hold_registry.hpp"
#include "client/submission_queue.hpp"

#include <functional>

namespace rowlock::client_layer {

using hold_maker = std::function<hold_ptr(const acquire_operation&, model::token)>;

// Thread-safe. Called by whoever owns the operation.
class delivery {
 public:
  delivery(context& shared, submission_queue& queue, hold_registry& holds, hold_maker make_hold)
      : shared_(shared), queue_(queue), holds_(holds), make_hold_(std::move(make_hold)) {}

  // The database has granted the operation's hold. It counts only if the lease is still valid here and now
  // (I5). Requires: operation->checks is of before the statement that granted it, or found it granted.
  void granted(const acquire_ptr& operation, model::token token);

  // To be read before a request is sent, see hold_registry::checks().
  std::uint64_t checks() const noexcept { return holds_.checks(); }

  // Nobody waits for the operation any more: takes what it has, a grant or a place in the queue, back.
  void withdraw(const acquire_operation& operation);
  void withdraw(const std::string& name, model::hold_id hold,
                const std::shared_ptr<client_layer::lease>& lease);

  // Begins again, as a new request.
  void restart(const acquire_ptr& operation);

 private:
  void passed(const acquire_ptr& operation, model::token token);

  context& shared_;
  submission_queue& queue_;
  hold_registry& holds_;
  hold_maker make_hold_;
};

}  // namespace rowlock::client_layer
