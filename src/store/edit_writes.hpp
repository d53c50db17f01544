// What an edit writes, and in which order, for all dialects.
#pragma once

#include "store/lock_columns.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <string>

namespace rowlock::store {

// Passes each row that a change writes to `writer`:
//   row(statement, values...)  a row of a statement that may take many of them;
//   history(name, place, entry)  a line of the history;
//   lease(record), request(name, request), value(name, value), data(name, data)  the only row of a statement.
// Waiters are removed before others are added, so that a change can replace a waiter. A permit that a change
// replaces is updated: if it were deleted, a guarded transaction that waits for its row would not find it,
// although the hold is valid.
template <class Writer>
void write_change(const std::string& name, const lock_change& change, Writer& writer) {
  for (const auto& made : change.create_leases) writer.lease(made);
  for (const auto& gone : change.dequeue) writer.row("edit_dequeue", name, gone);
  for (const auto& waiter : change.enqueue) {
    writer.row("edit_enqueue", name, waiter.ticket, waiter.hold, waiter.lease, waiter.weight,
               to_string(waiter.mode));
  }
  for (const auto& gone : change.remove_permits) {
    const bool is_replaced = std::ranges::count(change.add_permits, gone, &model::permit::hold) > 0;
    if (!is_replaced) writer.row("edit_remove_permits", name, gone);
  }
  for (const auto& permit : change.add_permits) {
    writer.row("edit_add_permits", name, permit.hold, permit.lease, permit.weight, permit.token);
  }
  for (const auto& said : change.data) writer.data(name, said);
  if (change.row) {
    with_written_columns(*change.row, [&](const auto&... columns) {
      writer.row("edit_write_lock", name, columns..., change.granted_now);
    });
  }
  if (change.request) writer.request(name, *change.request);
  if (change.value) writer.value(name, *change.value);
  // The lines are written before leases end, because the store copies into them whose lease it is.
  std::int64_t place = 0;
  for (const auto& line : change.history) {
    writer.history(name, ++place, line);
  }
  for (const auto& ended : change.end_leases) writer.row("edit_end_leases", ended);
  for (const auto& noticed : change.notices) writer.row("edit_notice", noticed);
}

}  // namespace rowlock::store
