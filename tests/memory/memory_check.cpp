#include "memory/memory_check.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace rowlock::store {

namespace {

[[noreturn]] void refuse(const lock_view& before, std::string_view why) {
  throw error(errc::internal, fmt::format("a change of \"{}\" {}", before.row.name, why));
}

// Whether the change ends the lease. If another process takes on a hold under an id of its own, the hold's former lease
// ends.
bool ends(const lock_change& change, const lease_id& lease) {
  return std::ranges::count(change.end_leases, lease) > 0;
}

struct permits_after {
  std::int64_t weight = 0;
  bool granted = false;  // one with a new token
};

permits_after check_permits(const lock_view& before, const lock_change& change) {
  permits_after after{.weight = before.unread_weight};
  // The members that passed a barrier together have one token, and take no capacity.
  const bool gathered = before.row.kind == model::lock_kind::barrier;
  std::vector<model::permit> left;
  for (const auto& one : before.permits) {
    if (std::ranges::count(change.remove_permits, one.permit.hold) == 0) left.push_back(one.permit);
  }
  auto last = std::max(before.row.token, before.epoch_floor - 1);
  for (const auto& added : change.add_permits) {
    const auto has_same = [&](const model::permit& one) { return one.hold == added.hold; };
    if (std::ranges::any_of(left, has_same)) refuse(before, "adds a permit that is there");
    const bool moved = std::ranges::any_of(before.permits, [&](const auto& one) {
      const bool taken_on =
          std::ranges::count(change.remove_permits, one.permit.hold) > 0 && ends(change, one.permit.lease);
      // A hold may give back a part of its weight.
      const bool is_same_share =
          one.permit.weight == added.weight ||
          (has_same(one.permit) && one.permit.lease == added.lease && one.permit.weight > added.weight);
      return (has_same(one.permit) || taken_on) && one.permit.token == added.token && is_same_share;
    });
    const bool downgraded = before.row.hold == added.hold && before.row.token == added.token;
    if (!moved && !downgraded) {
      const bool with_others = gathered && after.granted && added.token == last;
      if (added.token <= last && !with_others) refuse(before, "grants a permit without a new token");
      last = added.token;
      after.granted = true;
    }
    if ((added.weight < 1) != gathered)
      refuse(before, "adds a permit without weight, or one with weight to a barrier");
    left.push_back(added);
  }
  if (change.row->token < last && after.granted) refuse(before, "forgets the token of a permit");
  for (const auto& one : left) after.weight += one.weight;
  return after;
}

}  // namespace

void check_change(const lock_view& before, const lock_change& change) {
  const auto require = [&](bool good, std::string_view why) {
    if (!good) refuse(before, why);
  };
  if (!change.row) {
    require(change.remove_permits.empty() && change.add_permits.empty(),
            "changes permits without writing the lock's row");
    require(change.enqueue.empty(), "enqueues without writing the lock's row");
    require(!change.granted_now, "stamps a grant without writing the lock's row");
    return;
  }
  require(before.row.kind != model::lock_kind::unknown, "writes a lock of a kind that it does not know");
  const model::lock_row& was = before.row;
  const model::lock_row& is = *change.row;
  const bool taken_on = is.hold && was.lease && is.token == was.token && ends(change, *was.lease);
  // A request that was granted on a lease that then ended may be granted again.
  const bool granted_again = is.hold && is.hold == was.hold && !before.holder && is.token > was.token;
  const bool new_hold =
      is.hold && (is.hold != was.hold || granted_again) && !is.hold->is_nil() && !taken_on;  // nil: it rests
  const auto after = check_permits(before, change);
  const bool guarded_goes = std::ranges::any_of(before.permits, [&](const auto& one) {
    return one.guarded && std::ranges::count(change.remove_permits, one.permit.hold) > 0;
  });
  const bool same_grant = is.hold == was.hold && is.lease == was.lease && !guarded_goes;

  require(is.name == was.name && is.kind == was.kind, "redefines the lock");
  require(is.capacity == was.capacity || is.kind == model::lock_kind::semaphore, "redefines the lock");
  require(is.hold.has_value() == is.lease.has_value(),
          "has a hold without a lease, or a lease without a hold");
  require(!is.hold || after.weight == 0, "grants to one and to many");
  require(is.in_use == (is.hold ? is.capacity : after.weight), "leaves in_use beside what is held");
  require(is.capacity < was.capacity || is.in_use <= std::max(is.capacity, was.in_use), "grants too much");
  require(is.token >= was.token, "lowers the token");
  require(is.next_ticket >= was.next_ticket, "lowers the next ticket");
  require(before.replaceable || same_grant, "replaces a guarded grant");
  require(!new_hold || (is.token > was.token && is.token >= before.epoch_floor),
          "grants without a new token");
  const bool granted = new_hold || after.granted;
  require(!granted || before.is_recorded_server, "grants in a database_state that is not the recorded one");
  require(granted == change.granted_now, "stamps a time of acquire that is none, or leaves one out");

  std::size_t left = before.queue.size() + change.enqueue.size();
  for (const auto& one : before.queue)
    left -= std::ranges::count(change.dequeue, one.waiter.hold) > 0 ? 1 : 0;
  auto last = before.queue.empty() ? was.next_ticket - 1 : before.queue.back().waiter.ticket;
  for (const auto& waiter : change.enqueue) {
    require(waiter.ticket > last, "takes a ticket that is not the next");
    last = waiter.ticket;
    require(last < is.next_ticket, "takes a ticket that comes again");
  }
  require(is.has_queue || (left == 0 && before.queue_complete), "forgets its queue");
  require(is.head_ticket >= was.head_ticket, "lowers the head of its queue");
  for (const auto& one : before.queue) {
    const bool stays = std::ranges::count(change.dequeue, one.waiter.hold) == 0;
    require(!stays || one.waiter.ticket >= is.head_ticket, "puts the head of its queue behind a waiter");
  }
  const auto unread = before.queue.empty() ? was.head_ticket : before.queue.back().waiter.ticket + 1;
  require(before.queue_complete || is.head_ticket <= unread,
          "puts the head of its queue behind what it has not read");
}

}  // namespace rowlock::store
