// Decides several requests for one lock in one transaction. Each finds the lock as the previous requests
// leave it, and one change is written for all of them.
#pragma once

#include "client/decision/decisions.hpp"

#include <chrono>

namespace rowlock::client_layer {

class sequential_edit {
 public:
  // ttl: of the leases that the view does not name; they belong to the requests.
  sequential_edit(const store::lock_view& read, std::chrono::milliseconds ttl) : view_(read), ttl_(ttl) {}

  // The view from which the next request is decided.
  const store::lock_view& view() const { return view_; }
  void decided(const store::lock_change& change);
  // Whether one of the requests before has removed that waiter.
  bool has_left(hold_id waiter) const;

  // The change that all of them make together.
  store::lock_change change() && { return std::move(all_); }

 private:
  // An unknown lease counts as alive. Taking a dead lease for a live one delays others until the mistake is
  // found. Taking a live one for dead would grant twice.
  model::lease_view lease_of(model::lease_id id, const store::lock_change& change) const;
  void show(const store::lock_change& change);
  void add(const store::lock_change& change);

  store::lock_view view_;
  std::chrono::milliseconds ttl_;
  store::lock_change all_;
};

}  // namespace rowlock::client_layer
