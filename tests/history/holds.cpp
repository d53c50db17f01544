#include "holds.hpp"

#include <algorithm>
#include <tuple>

namespace rowlock::history {

namespace {

class reader {
 public:
  explicit reader(const std::vector<event>& events) : events_{events} {}

  std::map<std::string, lock_history> read() {
    for (std::size_t at = 0; at < events_.size(); ++at) take(at);
    for (auto& [name, lock] : locks_) {
      for (auto& one : lock.attempts) finish(one);
    }
    return std::move(locks_);
  }

 private:
  struct place {
    std::string name;
    std::size_t at;
  };

  attempt& attempt_at(const place& where) { return locks_.at(where.name).attempts.at(where.at); }

  [[noreturn]] static void refuse(const event& about, const std::string& problem) {
    throw bad_history(about.file + ":" + std::to_string(about.line) + ": " + problem);
  }

  void take(std::size_t at) {
    const auto& now = events_[at];
    auto& lock = locks_[now.name];
    lock.events.push_back(at);
    lock.fair = lock.fair && now.fair;
    last_of_process_[now.process] = now.time;
    if (now.op == "acquire") {
      acquire(lock, now, at);
    } else if (now.op == "release") {
      release(now, at);
    } else if (now.kind == event_kind::lost) {
      if (const auto found = of_hold_.find(now.hold); found != of_hold_.end())
        attempt_at(found->second).lost = at;
    } else if (now.op == "queue" && now.ticket) {
      tickets_.insert_or_assign(now.hold, std::pair{*now.ticket, now.time});
    } else if (now.op == "state") {
      lock.states.push_back(at);
    }
  }

  void acquire(lock_history& lock, const event& now, std::size_t at) {
    lock.capacity = std::max(lock.capacity, now.capacity);
    const auto key = std::tuple{now.process, now.actor, now.call};
    if (now.kind == event_kind::invoke) {
      attempt begun;
      begun.invoked = at;
      begun.invoked_at = now.time;
      begun.weight = now.weight;
      if (!under_way_.emplace(key, place{now.name, lock.attempts.size()}).second) {
        refuse(now, "the actor has invoked this call before");
      }
      lock.attempts.push_back(begun);
      return;
    }
    if (now.kind == event_kind::info) return;
    const auto found = under_way_.find(key);
    if (found == under_way_.end() || found->second.name != now.name)
      refuse(now, "an answer without an invocation");
    auto& answered = attempt_at(found->second);
    if (answered.answered) refuse(now, "a second answer to one invocation");
    answered.answered = at;
    answered.answered_at = now.time;
    if (now.kind != event_kind::ok) return;
    if (now.hold.empty() || !now.token) refuse(now, "a grant without a hold or a token");
    answered.granted = true;
    answered.hold = now.hold;
    answered.token = *now.token;
    answered.weight = now.weight;
    if (now.ticket) tickets_.insert_or_assign(now.hold, std::pair{*now.ticket, now.time});
    of_hold_.insert_or_assign(now.hold, found->second);
  }

  void release(const event& now, std::size_t at) {
    const auto found = of_hold_.find(now.hold);
    if (found == of_hold_.end()) refuse(now, "a release of a hold that nobody was granted");
    auto& held = attempt_at(found->second);
    if (now.kind == event_kind::invoke) held.releasing = at;
    if (now.kind == event_kind::ok) held.released = at;
  }

  void finish(attempt& one) {
    const auto last = last_of_process_.at(events_[one.invoked].process);
    one.waited_until = std::min(one.answered_at, last);
    if (!one.granted) {
      one.possible_until =
          one.answered ? one.answered_at + withdrawal_ns : last + events_[one.invoked].ttl_ms * 1'000'000;
      return;
    }
    if (const auto found = tickets_.find(one.hold); found != tickets_.end()) {
      one.ticket = found->second.first;
      one.ticket_seen = found->second.second;
    }
    const auto& granted = events_[*one.answered];
    const auto ttl = granted.ttl_ms * 1'000'000;
    // A hold has no end if its process was killed, or if the history ends.
    one.certain_until = one.answered_at;
    one.possible_until = last + ttl;
    if (one.lost) {
      const auto& loss = events_[*one.lost];
      // Before the deadline of the holder, nobody else is granted the lock. A force or a fail-over is not announced.
      if (loss.reason == "expired" || loss.reason == "closed") one.certain_until = loss.time;
      one.possible_until = loss.time + ttl;
    }
    if (one.releasing) {
      const auto begun = events_[*one.releasing].time;
      one.certain_until = one.lost ? std::min(one.certain_until, begun) : begun;
    }
    if (one.released) one.possible_until = std::min(one.possible_until, events_[*one.released].time);
  }

  const std::vector<event>& events_;
  std::map<std::string, lock_history> locks_;
  std::map<std::tuple<std::string, std::string, std::int64_t>, place> under_way_;
  std::map<std::string, place> of_hold_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> tickets_;  // by hold: ticket, when it was seen
  std::map<std::string, std::int64_t> last_of_process_;
};

}  // namespace

std::map<std::string, lock_history> locks_of(const std::vector<event>& events) {
  return reader{events}.read();
}

}  // namespace rowlock::history
