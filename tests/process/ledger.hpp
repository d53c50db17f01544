// A counter for each name, which only the lock protects, and a log of the grants under which it was written. If two
// holders write at once, an addition is lost; then the log has more lines than the counter counts.
#pragma once

#include "sql_session.hpp"

#include <rowlock/hold.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::test {

struct audit {
  std::int64_t counted = 0;          // the sum of all counters
  std::int64_t logged = 0;           // lines of the log
  std::int64_t token_faults = 0;     // lines whose token is not above that of the previous value
  std::int64_t queued = 0;           // lines whose grant came out of the queue
  std::int64_t ticket_faults = 0;    // of these, granted before a lower ticket
  std::int64_t repeated_values = 0;  // pairs of lines that wrote the same value: two holders at once
};

class ledger {
 public:
  ledger(sql_session& session, std::string prefix) : session_{session}, prefix_{std::move(prefix)} {}

  void create(const std::vector<std::string>& names);
  // From now on a trigger notes every ticket when rowlock assigns it. Without the trigger the audit knows only the
  // tickets that note_queue() has seen. Not for a cluster: nodes were seen to refuse each write of the table with 1064,
  // "Unknown trigger has an error in its body: 'Query was empty'" (MariaDB 10.11.19).
  void note_tickets();
  // Without a trigger: notes the tickets that stand in the queue of that name now. Each holder calls this, so the
  // holders before a waiter see its ticket.
  void note_queue(const std::string& name);

  // Reads, then writes, in separate statements and without a row lock: only rowlock's lock protects the
  // value.
  void add_unguarded(const hold& held);
  // As add_unguarded, inside a guarded transaction. Throws error(hold_lost) if the hold does not stand.
  void add_guarded(const hold& held);

  audit check();

 private:
  std::int64_t read(const std::string& name);
  void write(const hold& held, std::int64_t value);

  sql_session& session_;
  std::string prefix_;
};

}  // namespace rowlock::test
