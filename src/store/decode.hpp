// From the rows of a statement to the values of the seam, once for all dialects.
#pragma once

#include "store/migration_session.hpp"
#include "store/rows.hpp"
#include "store/store.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

// Of acquire: hold_id, token.
std::vector<grant> read_grants(rows&& from);
// Of release: hold_id.
std::vector<hold_id> read_holds(rows&& from);
// Of hand_over: granted, client, token, has_queue.
hand_over_reply read_hand_over(const rows& row);
// Leases: id.
std::vector<lease_id> read_leases(rows&& from);
// Locks: name.
std::vector<std::string> read_names(rows&& from);
// Of read_database_state and renew. identity: this server's.
database_state read_database_state(const rows& row, std::string identity);
// Of renew: one row for each renewed lease, or one row without any. Begins with the row that `from` is at.
std::vector<renewal> read_renewals(rows& from);

// Of find, without status.hold.
void read_status(const rows& row, hold_status& status);
// The same for several holds, by the column n.
std::vector<hold_status> read_statuses(rows&& from, std::span<const hold_query> holds);
// Of list and show. The rows of a lock follow one another.
std::vector<lock_info> read_locks(rows&& from);
// The first of them.
std::optional<lock_info> read_lock(rows&& from);
std::vector<waiter_info> read_waiters(rows&& from);
held_entry read_held_entry(const rows& row);

// Of find_stale_leases and find_stale_names, which return every name of a page of `limit` names.
stale read_stale(rows&& leases, rows&& names, std::size_t limit);

// What an edit reads of its locks: the rows of edit_read, and of the statements that go with it.
class edit_reader {
 public:
  explicit edit_reader(std::span<const edit_request> requests);

  // A row of the lock of request `at`.
  void read(const rows& row, std::size_t at);
  // All rows, with the requests' positions in the column n.
  void read(rows&& from);

  std::vector<edit_result> results;
  std::vector<lock_view> views;

 private:
  void read_lock(const rows& row, std::size_t at);

  std::span<const edit_request> requests_;
};

schema_state read_schema_state(rows&& from);
std::vector<ledger_entry> read_ledger(rows&& from);
// Of describe: migration_session::describe's lines.
std::vector<std::string> read_columns(rows&& from, std::string_view prefix);

}  // namespace rowlock::store
