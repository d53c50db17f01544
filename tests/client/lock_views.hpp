// Builds the view that a transaction may have read while it has the lock's row locked.
#pragma once

#include "client/decision/decisions.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace rowlock::test {

using namespace std::chrono_literals;
using client_layer::acquire_terms;
using client_layer::decision;
using model::hold_id;
using model::lease_id;
using what = client_layer::outcome::what;

inline constexpr std::chrono::microseconds no_skew{0};

struct party {
  lease_id lease = lease_id::random();
  lease_id client = lease;
  hold_id hold = hold_id::random();

  model::lease_view view(std::chrono::microseconds expires_in) const {
    return {lease, client, expires_in, 30s};
  }
};

class view_builder {
 public:
  view_builder() {
    view_.row.name = "a";
    view_.row.token = 7;
    view_.row.next_ticket = 1;
  }

  // The lock is held by a lease that expires in this time, or, without a time, by a dead lease.
  view_builder& held_by(const party& who, std::optional<std::chrono::microseconds> expires_in = 30s) {
    view_.row.lease = who.lease;
    view_.row.hold = who.hold;
    view_.row.in_use = view_.row.capacity;
    if (expires_in) view_.holder = who.view(*expires_in);
    return *this;
  }
  // One more party shares the lock; the calls are in the order of the tokens.
  view_builder& shared_by(const party& who, std::int64_t weight = 1,
                          std::optional<std::chrono::microseconds> expires_in = 30s) {
    view_.permits.push_back({{who.hold, who.lease, weight, ++view_.row.token}, {}});
    if (expires_in) view_.permits.back().lease = who.view(*expires_in);
    view_.row.in_use += weight;
    return *this;
  }
  view_builder& queued(const party& who, std::optional<std::chrono::microseconds> expires_in = 30s) {
    return queue({view_.row.next_ticket, who.hold, who.lease, view_.row.capacity}, who, expires_in);
  }
  view_builder& queued_to_share(const party& who, std::int64_t weight = 1,
                                std::optional<std::chrono::microseconds> expires_in = 30s) {
    return queue({view_.row.next_ticket, who.hold, who.lease, weight, model::lock_mode::shared}, who,
                 expires_in);
  }
  view_builder& dead_waiter(const party& who = {}) { return queued(who, {}); }
  // The queue has more rows than were read.
  view_builder& more_behind() {
    view_.queue_complete = false;
    view_.row.has_queue = true;
    view_.row.next_ticket += 1000;
    return *this;
  }
  view_builder& asked_by(const party& who, std::int64_t ticket) {
    view_.own = model::waiter{ticket, who.hold, who.lease};
    return *this;
  }
  // A guarded transaction relies on all holds so far.
  view_builder& guarded() {
    view_.replaceable = false;
    for (auto& entry : view_.permits) entry.guarded = true;
    return *this;
  }
  view_builder& foreign() {
    view_.is_recorded_server = false;
    return *this;
  }
  view_builder& floor(model::token floor) {
    view_.epoch_floor = floor;
    return *this;
  }
  view_builder& capacity(std::int64_t capacity) {
    view_.row.capacity = capacity;
    return *this;
  }
  view_builder& kind(model::lock_kind kind) {
    view_.row.kind = kind;
    return *this;
  }
  view_builder& delay(std::chrono::milliseconds delay) {
    view_.row.delay = delay;
    return *this;
  }
  // The stored data of the hold that the request is about.
  view_builder& data(const std::string& stored) {
    view_.data = stored;
    return *this;
  }
  view_builder& unfair() {
    view_.row.fair = false;
    return *this;
  }

  operator store::lock_view() const { return view_; }  // NOLINT: a builder is used as its view

 private:
  view_builder& queue(const model::waiter& waiter, const party& who,
                      std::optional<std::chrono::microseconds> expires_in) {
    view_.queue.push_back({waiter, {}});
    if (expires_in) view_.queue.back().lease = who.view(*expires_in);
    ++view_.row.next_ticket;
    view_.row.has_queue = true;
    return *this;
  }

  store::lock_view view_;
};

inline view_builder a_lock() {
  return {};
}

inline view_builder a_semaphore(std::int64_t capacity) {
  return view_builder{}.kind(model::lock_kind::semaphore).capacity(capacity);
}
inline view_builder a_shared_mutex() {
  return view_builder{}.kind(model::lock_kind::shared_mutex).capacity(model::shared_mutex_capacity);
}

inline acquire_terms wish_of(const party& who, bool wait) {
  return {{{"a", model::lock_kind::mutex, 1}}, who.lease, who.hold, wait};
}

// Requests the lock of that view with the definition that is stored.
inline decision share(const store::lock_view& view, const party& who, std::int64_t weight = 1,
                      bool wait = true) {
  const auto& row = view.row;
  return client_layer::decide_acquire(
      view,
      {{{row.name, row.kind, row.capacity, row.fair}, model::lock_mode::shared, weight},
       who.lease,
       who.hold,
       wait},
      no_skew);
}
inline decision write(const store::lock_view& view, const party& who, bool wait = true) {
  const auto& row = view.row;
  return client_layer::decide_acquire(
      view, {{{row.name, row.kind, row.capacity, row.fair}}, who.lease, who.hold, wait}, no_skew);
}

inline decision acquire(const store::lock_view& view, const party& who, bool wait = true,
                        std::chrono::microseconds skew = no_skew) {
  return client_layer::decide_acquire(view, wish_of(who, wait), skew);
}

// The holds that a decision grants to waiters, and those that it gives a permit.
inline std::vector<hold_id> granted_next(const decision& made) {
  std::vector<hold_id> holds;
  for (const auto& next : made.outcome.next) holds.push_back(next.waiter.hold);
  return holds;
}
inline std::vector<hold_id> added(const decision& made) {
  std::vector<hold_id> holds;
  for (const auto& permit : made.change.add_permits) holds.push_back(permit.hold);
  return holds;
}

}  // namespace rowlock::test
