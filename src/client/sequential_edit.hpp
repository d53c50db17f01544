// Several requests about one lock, decided one after the other in one transaction: each finds the lock as
// those before it leave it, and one change is written for all of them.
#pragma once

#include "client/decisions.hpp"

#include <chrono>

namespace rowlock::client_layer {

class sequential_edit {
 public:
  // ttl: of leases that the view does not name, for they are those of who asks.
  sequential_edit(const store::lock_view& read, std::chrono::milliseconds ttl) : view_(read), ttl_(ttl) {}

  // What the next one decides from.
  const store::lock_view& view() const { return view_; }
  void decided(const store::lock_change& change);

  // What all of them change together.
  store::lock_change change() && { return std::move(all_); }

 private:
  // A lease of which nothing is known counts as living: to take a dead one for living delays others until it
  // is found out; to take a living one for dead would grant twice.
  model::lease_view lease_of(model::lease_id id, const store::lock_change& change) const;
  void show(const store::lock_change& change);
  void add(const store::lock_change& change);

  store::lock_view view_;
  std::chrono::milliseconds ttl_;
  store::lock_change all_;
};

}  // namespace rowlock::client_layer
