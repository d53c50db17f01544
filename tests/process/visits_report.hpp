// What the witness's lines show about the visits.
#pragma once

#include "witness.hpp"

#include <set>

namespace rowlock::test {

struct visits_report {
  std::int64_t visits = 0;
  std::int64_t most_together = 0;   // the highest weight that was inside one name at a time
  std::int64_t most_sharing = 0;    // and the most holds
  std::int64_t overfull = 0;        // came while the others inside left no room: never right
  std::int64_t token_faults = 0;    // came with a token not above that of a visit it had to wait for
  std::int64_t overtaken = 0;       // granted before one that stood in the queue when it began to ask
  std::int64_t queued = 0;          // visits that had waited
  std::int64_t lighter = 0;         // visits inside that gave up some of their weight
  std::int64_t heavier = 0;         // and those that got more
  std::int64_t killed_inside = 0;   // leases that died with a visit inside
  std::int64_t killed_waiting = 0;  // leases that died with a place in a queue
  std::int64_t after_kills = 0;     // visits after the first lease that died with a visit inside
  std::set<std::int64_t> inside;    // the pids of those that have not left
};

// A visit is inside until it leaves or its lease has died. If the lease is in another database, its death is
// not known; then only visits that have left count.
enum class without_leaving { inside_until_death, not_counted };

// A visit that weighs as much as the capacity must be alone.
visits_report report_on(const std::vector<witness_line>& lines, std::int64_t capacity,
                        without_leaving rule = without_leaving::inside_until_death);

}  // namespace rowlock::test
