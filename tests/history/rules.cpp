#include "rules.hpp"

#include <algorithm>
#include <set>

namespace rowlock::history {

namespace {

std::vector<const attempt*> grants_of(const lock_history& lock) {
  std::vector<const attempt*> result;
  for (const auto& one : lock.attempts) {
    if (one.granted) result.push_back(&one);
  }
  return result;
}

std::string milliseconds(std::int64_t nanoseconds) {
  return std::to_string(nanoseconds / 1'000'000) + " ms";
}

// Whether an acquire was under way at some moment between the two times. If so, an unknown id may be that acquire's.
bool is_requested(const lock_history& lock, std::int64_t from, std::int64_t to) {
  return std::ranges::any_of(lock.attempts, [&](const attempt& one) {
    return one.invoked_at <= to && (one.granted ? one.answered_at : one.possible_until) >= from;
  });
}

}  // namespace

void check_exclusion(const std::string& name, const lock_history& lock, std::vector<violation>& found) {
  auto grants = grants_of(lock);
  std::ranges::sort(grants, {}, &attempt::answered_at);
  std::vector<const attempt*> inside;
  for (const auto* now : grants) {
    std::erase_if(inside, [&](const attempt* other) { return other->certain_until <= now->answered_at; });
    if (now->certain_until <= now->answered_at) continue;
    inside.push_back(now);
    std::int64_t weight = 0;
    violation broken{"exclusion", name, "", {}};
    for (const auto* one : inside) {
      weight += one->weight;
      broken.events.push_back(*one->answered);
      broken.events.push_back(one->releasing ? *one->releasing : one->lost.value_or(*one->answered));
    }
    if (weight <= lock.capacity) continue;
    broken.what = std::to_string(inside.size()) + " holds with a weight of " + std::to_string(weight) +
                  " stood together; the capacity is " + std::to_string(lock.capacity);
    found.push_back(broken);
    inside.pop_back();
  }
}

void check_tokens(const std::string& name, const lock_history& lock, std::vector<violation>& found) {
  auto by_answer = grants_of(lock);
  auto by_request = by_answer;
  std::ranges::sort(by_answer, {}, &attempt::answered_at);
  std::ranges::sort(by_request, {}, &attempt::invoked_at);
  const attempt* highest = nullptr;
  auto answered = by_answer.begin();
  for (const auto* now : by_request) {
    for (; answered != by_answer.end() && (*answered)->answered_at < now->invoked_at; ++answered) {
      if (!highest || (*answered)->token > highest->token) highest = *answered;
    }
    if (highest && now->token < highest->token) {
      found.push_back(
          {"tokens",
           name,
           "the token " + std::to_string(now->token) + " follows " + std::to_string(highest->token),
           {*highest->answered, now->invoked, *now->answered}});
    }
  }
  std::ranges::stable_sort(by_answer, {}, &attempt::token);
  for (std::size_t i = 1; i < by_answer.size(); ++i) {
    if (by_answer[i]->token != by_answer[i - 1]->token) continue;
    found.push_back({"tokens",
                     name,
                     "two grants have the token " + std::to_string(by_answer[i]->token),
                     {*by_answer[i - 1]->answered, *by_answer[i]->answered}});
  }
}

void check_order(const std::string& name, const lock_history& lock, std::vector<violation>& found) {
  if (!lock.fair) return;
  auto queued = grants_of(lock);
  std::erase_if(queued, [](const attempt* one) { return !one->ticket; });
  // Tokens rise in the order of the grants.
  std::ranges::sort(queued, {}, &attempt::token);
  const attempt* latest = nullptr;
  for (const auto* now : queued) {
    if (latest && *now->ticket < *latest->ticket) {
      found.push_back({"order",
                       name,
                       "ticket " + std::to_string(*latest->ticket) + " was granted before ticket " +
                           std::to_string(*now->ticket),
                       {latest->invoked, *latest->answered, now->invoked, *now->answered}});
    } else {
      latest = now;
    }
  }
}

void check_orphans(const std::string& name, const lock_history& lock, const std::vector<event>& events,
                   std::vector<violation>& found) {
  for (const auto at : lock.states) {
    const auto& state = events[at];
    std::set<std::string> known;
    for (const auto& one : lock.attempts) {
      if (!one.granted) continue;
      known.insert(one.hold);
      const bool stands = std::ranges::find(state.holders, one.hold) != state.holders.end() ||
                          std::ranges::find(state.waiters, one.hold) != state.waiters.end();
      if (!stands || !one.released || events[*one.released].time >= state.since) continue;
      found.push_back({"orphan",
                       name,
                       "the hold " + one.hold + " stands after its release",
                       {*one.answered, *one.released, at}});
    }
    if (is_requested(lock, state.since, state.time)) continue;
    const auto report = [&](const std::vector<std::string>& ids, const char* what) {
      for (const auto& id : ids) {
        if (!known.contains(id)) found.push_back({"orphan", name, id + what, {at}});
      }
    };
    report(state.holders, " was granted the lock, and nobody requested it");
    report(state.waiters, " stands in the queue, and nobody requests it");
  }
}

void check_wakeups(const std::string& name, const lock_history& lock, const std::vector<event>& events,
                   const bounds& limits, std::vector<violation>& found) {
  const auto end = events.empty() ? 0 : events.back().time;
  // The periods in which somebody certainly or possibly held the lock, joined.
  std::vector<std::pair<std::int64_t, std::int64_t>> used;
  for (const auto* one : grants_of(lock)) used.emplace_back(one->answered_at, one->possible_until);
  std::ranges::sort(used);
  std::vector<std::pair<std::int64_t, std::int64_t>> free;
  std::int64_t until = 0;
  for (const auto& [from, to] : used) {
    if (from > until) free.emplace_back(until, from);
    until = std::max(until, to);
  }
  if (end > until) free.emplace_back(until, end);

  for (const auto& one : lock.attempts) {
    for (const auto& [from, to] : free) {
      const auto length = std::min(to, one.waited_until) - std::max(from, one.invoked_at);
      if (length <= limits.free.count()) continue;
      violation broken{"wake-up",
                       name,
                       "a request waited " + milliseconds(length) + " for a lock that nobody held",
                       {one.invoked}};
      if (one.answered) broken.events.push_back(*one.answered);
      found.push_back(broken);
      break;
    }
  }
}

std::vector<violation> check(const std::vector<event>& events, const bounds& limits) {
  std::vector<violation> found;
  for (const auto& [name, lock] : locks_of(events)) {
    check_exclusion(name, lock, found);
    check_tokens(name, lock, found);
    check_order(name, lock, found);
    check_orphans(name, lock, events, found);
    check_wakeups(name, lock, events, limits, found);
  }
  return found;
}

}  // namespace rowlock::history
