// What the witness's lines show about the visits of holders.
#pragma once

#include "witness.hpp"

#include <set>

namespace rowlock::test {

struct visits_report {
  std::int64_t visits = 0;
  std::int64_t most_together = 0;   // the highest weight that was inside one name at a time
  std::int64_t most_sharing = 0;    // the highest number of holds that were inside one name
  std::int64_t overfull = 0;        // visits that came while those inside left no room: never right
  std::int64_t token_faults = 0;    // visits with a token not above that of a visit they had to wait for
  std::int64_t overtaken = 0;       // visits granted before one that was queued when they began to ask
  std::int64_t queued = 0;          // visits that had waited
  std::int64_t lighter = 0;         // visits inside that gave up some of their weight
  std::int64_t heavier = 0;         // visits inside that got more weight
  std::int64_t killed_inside = 0;   // leases that died with a visit inside
  std::int64_t killed_waiting = 0;  // leases that died with a place in a queue
  std::int64_t after_kills = 0;     // visits after the first lease that died with a visit inside
  std::set<std::int64_t> inside;    // the pids of the visits that have not left
};

// A visit is inside until it leaves or its lease has died. If the lease is in another database, nobody sees it die;
// then only visits that have left count.
enum class without_leaving { inside_until_death, not_counted };

// A visit that weighs as much as the capacity must be alone.
visits_report report_on(const std::vector<witness_line>& lines, std::int64_t capacity,
                        without_leaving rule = without_leaving::inside_until_death);

}  // namespace rowlock::test
