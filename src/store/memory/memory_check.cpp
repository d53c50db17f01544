#include "store/memory/memory_check.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::store {

namespace {

[[noreturn]] void refuse(const lock_view& before, std::string_view why) {
  throw error(errc::internal, fmt::format("a change of \"{}\" {}", before.row.name, why));
}

}  // namespace

void check_change(const lock_view& before, const lock_change& change) {
  const auto require = [&](bool good, std::string_view why) {
    if (!good) refuse(before, why);
  };
  if (!change.row) {
    require(!change.enqueue, "enqueues without writing the lock's row");
    require(!change.granted_now, "stamps a grant without writing the lock's row");
    return;
  }
  require(before.row.kind != model::lock_kind::unknown, "writes a lock of a kind that it does not know");
  const model::lock_row& was = before.row;
  const model::lock_row& is = *change.row;
  const bool same_grant = is.hold == was.hold && is.lease == was.lease && is.token == was.token;
  const bool new_hold = is.hold && is.hold != was.hold;

  require(is.name == was.name && is.kind == was.kind && is.capacity == was.capacity, "redefines the lock");
  require(is.hold.has_value() == is.lease.has_value(),
          "has a hold without a lease, or a lease without a hold");
  require(is.in_use == (is.hold ? is.capacity : 0), "leaves in_use beside what is held");
  require(is.token >= was.token, "lowers the token");
  require(is.next_ticket >= was.next_ticket, "lowers the next ticket");
  require(before.replaceable || same_grant, "replaces a guarded grant");
  require(!new_hold || (is.token > was.token && is.token >= before.epoch_floor),
          "grants without a new token");
  require(!new_hold || before.same_world, "grants in a world that is not the recorded one");
  require(new_hold == change.granted_now, "stamps a time of acquire that is none, or leaves one out");

  std::size_t left = before.queue.size() + (change.enqueue ? 1 : 0);
  for (const auto& one : before.queue) {
    left -= std::ranges::count(change.dequeue, one.waiter.hold) > 0 ? 1 : 0;
    require(!change.enqueue || change.enqueue->ticket > one.waiter.ticket,
            "takes a ticket that is not the next");
  }
  require(!change.enqueue || change.enqueue->ticket < is.next_ticket, "takes a ticket that comes again");
  require(is.has_queue || (left == 0 && before.queue_complete), "forgets its queue");
}

}  // namespace rowlock::store
