// The columns of a lock's row, for all dialects. A new field of model::lock_row does not compile here until it is
// added.
#pragma once

#include "model/lock.hpp"
#include "store/rows.hpp"

#include <string>

namespace rowlock::store {

// Calls use() with the columns that an edit writes, in the order in which edit_write_lock takes them. If the row is not
// const, use() may change them.
template <class LockRow, class Use>
decltype(auto) with_written_columns(LockRow& row, Use use) {
  auto& [name, kind, capacity, in_use, latest_token, next_ticket, head_ticket, lease, hold, has_queue, fair,
         delay] = row;
  return use(capacity, in_use, latest_token, next_ticket, head_ticket, lease, hold, has_queue);
}

// Reads a lock's row from the columns of edit_read, list and show.
inline model::lock_row read_lock_row(const rows& from, std::string named) {
  model::lock_row row;
  auto& [name, kind, capacity, in_use, latest_token, next_ticket, head_ticket, lease, hold, has_queue, fair,
         delay] = row;
  name = std::move(named);
  next_ticket = from.integer("next_ticket");
  lease = from.optional_id<model::lease_id>("lease_id");
  hold = from.optional_id<model::hold_id>("hold_id");
  latest_token = from.integer("token");
  kind = model::parse_lock_kind(from.view("kind"));
  capacity = from.integer("capacity");
  in_use = from.integer("in_use");
  has_queue = from.boolean("has_queue");
  fair = from.boolean("fair");
  delay = from.milliseconds("delay_ms");
  head_ticket = from.integer("head_ticket");
  return row;
}

}  // namespace rowlock::store
