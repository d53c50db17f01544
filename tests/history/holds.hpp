// The calls of a history: which acquire got which hold, and for how long it certainly and possibly stood.
#pragma once

#include "event.hpp"

#include <limits>
#include <map>

namespace rowlock::history {

// A place in the queue may be withdrawn after its caller has the answer.
inline constexpr std::int64_t withdrawal_ns = 5'000'000'000;
inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// One acquire, and the hold that it may have brought. Positions are indexes into the events.
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
  std::int64_t ticket_seen = 0;  // when somebody saw it in the queue
  std::int64_t weight = 1;

  std::int64_t invoked_at = 0;
  std::int64_t answered_at = never;
  // How long its caller waited, as far as is known: a killed process leaves no answer.
  std::int64_t waited_until = 0;
  // It stood from `answered_at` until here, at least.
  std::int64_t certain_until = 0;
  // And until here, at most. Without a grant: until here it may stand in the queue.
  std::int64_t possible_until = never;
};

struct lock_history {
  std::vector<attempt> attempts;    // in order of their invocation
  std::vector<std::size_t> states;  // events "state"
  std::vector<std::size_t> events;  // all, in order of time
  std::int64_t capacity = 1;
  bool fair = true;
};

// By name. The events must be in order of time. Throws bad_history for an answer without an invocation.
std::map<std::string, lock_history> locks_of(const std::vector<event>& events);

}  // namespace rowlock::history
