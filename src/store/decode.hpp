// Converts the rows of a statement to the values of the store interface, for all dialects.
#pragma once

#include "model/for_stores.hpp"
#include "store/history_verbs.hpp"
#include "store/migration_session.hpp"
#include "store/rows.hpp"
#include "store/store.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

// The rows of acquire: hold_id, token.
ROWLOCK_FOR_STORES std::vector<grant> read_grants(rows&& from);
// The rows of release: hold_id.
ROWLOCK_FOR_STORES std::vector<hold_id> read_holds(rows&& from);
// The row of hand_over: granted, client, token, has_queue.
ROWLOCK_FOR_STORES hand_over_reply read_hand_over(const rows& row);
// Rows that name leases: id.
ROWLOCK_FOR_STORES std::vector<lease_id> read_leases(rows&& from);
// Rows that name locks: name.
std::vector<std::string> read_names(rows&& from);
// A row of read_database_state or renew. identity: the identity of this server.
ROWLOCK_FOR_STORES database_state read_database_state(const rows& row, std::string identity);
// The floor of the next epoch, from the row of take_meta.
ROWLOCK_FOR_STORES token next_floor(const rows& meta);
// The rows of renew, from the current one on: one for each renewed lease, or a single one without a lease.
ROWLOCK_FOR_STORES std::vector<renewal> read_renewals(rows& from);

// A row of find. Does not set status.hold. After the last row the caller calls share_takeovers().
ROWLOCK_FOR_STORES void read_status(const rows& row, hold_status& status);
// The statement find computes takeover_in for only one of the holds of each name, because that reads all
// permits of the lock. This gives the value to all queried holds of the name that do not hold the lock.
ROWLOCK_FOR_STORES void share_takeovers(std::span<const hold_query> holds, std::span<hold_status> found);
// The rows of find for several holds; the column n numbers the holds from 1.
ROWLOCK_FOR_STORES std::vector<hold_status> read_statuses(rows&& from, std::span<const hold_query> holds);
// The rows of list and show. The rows of one lock are adjacent.
std::vector<lock_info> read_locks(rows&& from);
// The first lock in such rows; empty if there is none.
std::optional<lock_info> read_lock(rows&& from);
std::vector<waiter_info> read_waiters(rows&& from);
ROWLOCK_FOR_STORES held_entry read_held_entry(const rows& row);
std::vector<held_entry> read_held_entries(rows&& from);
// The rows of find_stale_names, in the order of the names: the stale names of a page, and its last name,
// stale or not. If the column `more` is true, another page may follow.
stale read_stale_names(rows&& from);

// What an edit reads of its locks: the rows of edit_read, and of the statements that go with it.
class edit_reader {
 public:
  ROWLOCK_FOR_STORES explicit edit_reader(std::span<const edit_request> requests);

  // Reads a row that belongs to the lock of request `at`.
  ROWLOCK_FOR_STORES void read(const rows& row, std::size_t at);
  // Reads all rows. Their column n numbers the requests from 1.
  ROWLOCK_FOR_STORES void read(rows&& from);
  // Whether a request needs all permits of its lock.
  ROWLOCK_FOR_STORES bool reads_all_permits() const;
  // Whether edit_read_data must run for request `at`, which asks for its hold's data. Requires: its lock was
  // read.
  ROWLOCK_FOR_STORES bool needs_data(std::size_t at) const;
  // Reads the row of edit_read_data for request `at`.
  ROWLOCK_FOR_STORES void read_data(rows&& from, std::size_t at);

  std::vector<edit_result> results;
  std::vector<lock_view> views;

 private:
  void read_lock(const rows& row, std::size_t at);
  void read_permit(const rows& row, std::size_t at);
  void read_sum(const rows& row, std::size_t at);

  std::span<const edit_request> requests_;
};

std::vector<recording> read_recordings(rows&& from);
std::vector<history_line> read_history(rows&& from);

ROWLOCK_FOR_STORES schema_state read_schema_state(rows&& from);
std::vector<ledger_entry> read_ledger(rows&& from);
// The rows of describe, as the lines of migration_session::describe.
std::vector<std::string> read_columns(rows&& from, std::string_view prefix);

}  // namespace rowlock::store
