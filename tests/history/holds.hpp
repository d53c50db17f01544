// The calls of a history: which acquire was granted which hold, and how long the hold certainly and possibly stood.
#pragma once

#include "event.hpp"

#include <limits>
#include <map>

namespace rowlock::history {

// How long after its caller has the answer a place in the queue may be withdrawn.
inline constexpr std::int64_t withdrawal_ns = 5'000'000'000;
inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// One acquire, and the hold that it may have been granted. Positions are indexes into the events.
struct attempt {
  std::size_t invoked = 0;
  std::optional<std::size_t> answered;  // ok or fail
  std::optional<std::size_t> releasing;
  std::optional<std::size_t> released;
  std::optional<std::size_t> lost;

  bool granted = false;
  std::string hold;
  std::int64_t token = 0;
  std::optional<std::int64_t> ticket;
  std::int64_t ticket_seen = 0;  // when somebody saw the ticket in the queue
  std::int64_t weight = 1;

  std::int64_t invoked_at = 0;
  std::int64_t answered_at = never;
  // How long the caller waited, as far as is known: a killed process leaves no answer.
  std::int64_t waited_until = 0;
  // The hold stood from `answered_at` until here, at least.
  std::int64_t certain_until = 0;
  // The hold stood until here, at most. Without a grant, the place may stand in the queue until here.
  std::int64_t possible_until = never;
};

struct lock_history {
  std::vector<attempt> attempts;    // in order of their invocation
  std::vector<std::size_t> states;  // positions of the events "state"
  std::vector<std::size_t> events;  // all, in order of time
  std::int64_t capacity = 1;
  bool fair = true;
};

// The locks by name. The events must be sorted by time. Throws bad_history for an answer without an invocation.
std::map<std::string, lock_history> locks_of(const std::vector<event>& events);

}  // namespace rowlock::history
