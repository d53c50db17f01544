#include "simulator/oracle.hpp"

#include "client/decision/hold_data.hpp"
#include "primitives/access.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace rowlock::simulator {

namespace {

using model::lock_kind;

std::string short_id(const model::id128& id) {
  return id.to_string().substr(24);
}

// The text that a holder has attached to its hold, as it is stored. `exclusive`: in the lock's own row.
std::string text_of(const store::memory_tables& tables, const store::memory_lock& lock,
                    const model::hold_id& hold, model::token token, bool exclusive) {
  if (exclusive) return client_layer::said_under(token, lock.value);
  return tables.permits.at(lock.row.name).at(hold).data.value_or("");
}

template <class Entries>
auto find_hold(Entries& entries, const model::hold_id& hold) {
  return std::ranges::find(entries, hold, [](const auto& one) { return one.hold; });
}

}  // namespace

oracle::oracle(const story& plan, scheduler& runs, recorder& records, violation found)
    : plan_(plan), runs_(runs), records_(records), found_(std::move(found)) {}

void oracle::fail(std::string_view rule, const std::string& what) {
  found_(rule, what);
  std::abort();
}

// ---- commits ----

std::vector<oracle::entry> oracle::entries_of(const store::memory_tables& tables,
                                              const store::memory_lock& lock) {
  std::vector<entry> made;
  const auto& row = lock.row;
  if (row.lease) made.push_back({*row.hold, *row.lease, row.capacity, row.token, true});
  if (const auto found = tables.permits.find(row.name); found != tables.permits.end()) {
    for (const auto& [hold, one] : found->second) {
      made.push_back({hold, one.permit.lease, one.permit.weight, one.permit.token, false});
    }
  }
  return made;
}

void oracle::committed(const store::memory_tables& after, store::timestamp now, store::durability how) {
  check_leases(after, now, how);
  for (const auto& [name, lock] : after.locks) check_lock(name, after, now, how);
  check_withdrawn(after);
  remember(after);
}

void oracle::taken_back(const store::memory_tables& after) {
  remember(after);
  // A lossy fail-over may bring back a lease that had ended, or a hold whose lock has rested already and will rest
  // again.
  for (const auto& [id, lease] : after.leases) dead_leases_.erase(id);
  for (const auto& [name, lock] : locks_) {
    for (const auto& one : lock.entries) {
      dead_leases_.erase(model::lease_id::belonging_to(one.hold));             // after a release
      dead_leases_.erase(model::lease_id::belonging_to(one.hold, one.token));  // after a loss
    }
    for (const auto& one : lock.queue) dead_leases_.erase(model::lease_id::belonging_to(one.hold));
  }
  if (is_safe()) return;
  // Guarded writes were lost with the grants before them.
  for (auto& [name, last] : written_) {
    const auto lock = after.locks.find(name);
    last = lock == after.locks.end() ? 0 : std::min(last, lock->second.row.token);
  }
  // A fail-over may bring back an earlier text, too.
  for (const auto& [name, lock] : after.locks) {
    if (is_rendezvous(lock.row.kind)) continue;
    for (const auto& one : entries_of(after, lock))
      texts_[one.hold].may_be.push_back(text_of(after, lock, one.hold, one.token, one.exclusive));
  }
}

void oracle::refused(std::string_view why) {
  fail("internal error", std::string{why});
}

void oracle::conflicted() {
  records_.fault(fault_kind::commit_conflicted, [] { return std::string{current_verb}; });
}

void oracle::remember(const store::memory_tables& after) {
  for (auto at = locks_.begin(); at != locks_.end();) {
    if (after.locks.contains(at->first)) {
      ++at;
      continue;
    }
    note_gone(at->second, {});
    note_opening(at->first, false);
    at = locks_.erase(at);
  }
  for (const auto& [name, lock] : after.locks) {
    auto& watched = locks_[name];
    watched.row = lock.row;
    if (lock.row.kind == lock_kind::latch) note_opening(name, lock.row.in_use >= lock.row.capacity);
    auto entries = entries_of(after, lock);
    note_gone(watched, entries);
    watched.entries = std::move(entries);
    watched.queue.clear();
    if (const auto found = after.queues.find(name); found != after.queues.end()) {
      for (const auto& [ticket, waiter] : found->second) watched.queue.push_back(waiter);
    }
  }
  leases_ = after.leases;
  if (std::exchange(epoch_, after.epoch) != after.epoch) epoch_raised_at_ = runs_.now();
}

void oracle::note_opening(const std::string& name, bool is_open) {
  auto& known = openings_[name];
  if (known.is_open && !is_open) known.closed_at = runs_.now();
  known.is_open = is_open;
}

void oracle::note_gone(const watched_lock& was, const std::vector<entry>& entries) {
  for (const auto& one : was.entries) {
    if (find_hold(entries, one.hold) != entries.end()) continue;
    for (auto [first, last] = holds_.equal_range(one.hold); first != last; ++first)
      check_loss(first->second, one);
    gone_.insert(one.hold);
  }
}

// A hold that is reported as forced or gone must not stand any more. A clock that steps ends leases too early.
void oracle::check_loss(const live_hold& one, const entry& stands) {
  if (!is_safe() || one.home->dead || gone_.contains(one.id) || !leases_.contains(stands.lease)) return;
  // A fail-over has lost the move of the hold to a lease of its own.
  if (one.state->lease()->id() != stands.lease) return;
  runs_.read_clock_of(one.home);
  const auto said = one.state->loss();
  runs_.read_clock_of(nullptr);
  if (said != loss::forced && said != loss::gone) return;
  fail("loss", fmt::format("\"{}\": hold {} of client {} says that it is lost ({}), and it stands", one.name,
                           short_id(one.id), one.home->id, to_string(said)));
}

void oracle::check_lock(const std::string& name, const store::memory_tables& after, store::timestamp now,
                        store::durability how) {
  const auto& lock = after.locks.at(name);
  const auto was = locks_.find(name);
  static const watched_lock nothing;
  const watched_lock& before = was == locks_.end() ? nothing : was->second;
  watched_lock is{lock.row, entries_of(after, lock), {}};
  if (const auto found = after.queues.find(name); found != after.queues.end()) {
    for (const auto& [ticket, waiter] : found->second) is.queue.push_back(waiter);
  }

  // I2
  std::vector<entry> granted;
  model::token highest = std::max(highest_[name], before.row.token);
  const model::token highest_before = highest;
  for (const auto& one : is.entries) {
    const auto known = find_hold(before.entries, one.hold);
    if (known != before.entries.end() && known->token == one.token) continue;
    if (one.hold.is_nil()) continue;  // the lock rests
    const bool moved = std::ranges::any_of(before.entries, [&](const entry& old) {
      return old.token == one.token && find_hold(is.entries, old.hold) == is.entries.end();
    });
    granted_[name][one.hold].insert(one.token);
    if (moved) continue;
    if (one.token <= highest_before) {
      fail("I2", fmt::format("\"{}\": hold {} was granted with token {}, and {} was given out before", name,
                             short_id(one.hold), one.token, highest_before));
    }
    highest = std::max(highest, one.token);
    granted.push_back(one);
  }
  highest_[name] = std::max(highest, lock.row.token);
  for (const auto& one : is.entries) {
    if (const auto known = find_hold(before.entries, one.hold); known != before.entries.end())
      granted_[name][one.hold].insert(one.token);
  }

  if (forced_[name] > 0) {
    for (const auto& one : before.entries) {
      if (find_hold(is.entries, one.hold) == is.entries.end()) taken_by_force_.insert(one.hold);
    }
  }
  if (!is_rendezvous(lock.row.kind)) {
    check_exclusion(before, is, after);
    check_order(before, is, granted, after, now);
    check_texts(before, is, after);
    if (!granted.empty()) check_holders_know(name, is.entries, granted);
  }
  // I8
  if (!granted.empty() && how != store::durability::durable) {
    fail("I8", fmt::format("\"{}\": hold {} was granted by a commit that is not durable", name,
                           short_id(granted.front().hold)));
  }
  for (const auto& one : granted) {
    if (find_hold(before.queue, one.hold) != before.queue.end())
      granted_to_waiter_at_[one.hold] = runs_.now();
    records_.event("granted", [&] {
      return fmt::format("\"{}\" to hold {} with token {}", name, short_id(one.hold), one.token);
    });
  }
}

// I1
void oracle::check_exclusion(const watched_lock& was, const watched_lock& is,
                             const store::memory_tables& after) {
  const auto sum = [](const watched_lock& lock, const auto& lives) {
    std::int64_t weights = 0;
    for (const auto& one : lock.entries) weights += lives(one.lease) ? one.weight : 0;
    return weights;
  };
  const auto weights = sum(is, [&](const auto& lease) { return after.find_lease(lease) != nullptr; });
  if (weights <= is.row.capacity) return;
  // A semaphore whose capacity was lowered keeps what it has granted.
  const auto before = sum(was, [&](const auto& lease) { return leases_.contains(lease); });
  if (weights <= before) return;
  fail("I1", fmt::format("\"{}\" has a capacity of {}, and living leases hold {}", is.row.name,
                         is.row.capacity, weights));
}

// I9
void oracle::check_order(const watched_lock& was, const watched_lock& is, const std::vector<entry>& granted,
                         const store::memory_tables& after, store::timestamp now) {
  if (!is.row.fair) return;
  for (const auto& one : granted) {
    const auto place = find_hold(was.queue, one.hold);
    // A reclaimed hold continues, and nobody gets in between.
    if (place == was.queue.end() && forced_[is.row.name] > 0) continue;
    const auto ticket = place == was.queue.end() ? std::numeric_limits<std::int64_t>::max() : place->ticket;
    for (const auto& waiter : is.queue) {
      if (waiter.ticket >= ticket || find_hold(was.queue, waiter.hold) == was.queue.end()) continue;
      const auto* lease = after.find_lease(waiter.lease);
      if (lease == nullptr || lease->expires_at <= now) continue;
      fail("I9", fmt::format("\"{}\": hold {} was granted before waiter {} with the earlier ticket {}",
                             is.row.name, short_id(one.hold), short_id(waiter.hold), waiter.ticket));
    }
  }
}

// A hold begins without a text, and keeps the text that it was given, also in another process.
void oracle::check_texts(const watched_lock& was, const watched_lock& is, const store::memory_tables& after) {
  const auto& lock = after.locks.at(is.row.name);
  for (const auto& one : is.entries) {
    if (one.hold.is_nil() || model::rests(one.hold, one.lease)) continue;
    if (find_hold(was.entries, one.hold) == was.entries.end()) {
      for (const auto& old : was.entries) {
        if (old.token != one.token || find_hold(is.entries, old.hold) != is.entries.end()) continue;
        if (const auto before = texts_.find(old.hold); before != texts_.end())
          texts_[one.hold] = known_texts{before->second};
      }
    }
    auto stored = text_of(after, lock, one.hold, one.token, one.exclusive);
    const auto known = texts_.find(one.hold);
    if (known == texts_.end() ? !stored.empty() : std::ranges::count(known->second.may_be, stored) == 0) {
      fail("text", fmt::format("\"{}\": hold {} has the text \"{}\", which is not what was said of it",
                               is.row.name, short_id(one.hold), stored));
    }
    if (known != texts_.end()) known->second.stored = std::move(stored);
  }
}

// I5
void oracle::check_holders_know(const std::string& name, const std::vector<entry>& entries,
                                const std::vector<entry>& granted) {
  if (!is_safe()) return;
  for (const auto& [id, one] : holds_) {
    if (one.name != name || one.home->dead || find_hold(entries, id) != entries.end() ||
        taken_by_force_.contains(id)) {
      continue;
    }
    if (is_valid(one)) {
      fail("I5", fmt::format("\"{}\": hold {} of client {} says that it is valid, and {} was granted", name,
                             short_id(id), one.home->id, short_id(granted.front().hold)));
    }
    if (!one.stop.stop_requested() && !one.slow_callbacks && !was_still(*one.home)) {
      fail("I5",
           fmt::format("\"{}\": {} was granted, and the stop token of hold {} of client {} has not fired",
                       name, short_id(granted.front().hold), short_id(id), one.home->id));
    }
  }
}

void oracle::check_leases(const store::memory_tables& after, store::timestamp now, store::durability how) {
  for (const auto& [id, lease] : after.leases) {
    const auto was = leases_.find(id);
    if (was == leases_.end()) {
      if (dead_leases_.contains(id))
        fail("I3", fmt::format("lease {} had ended, and is there again", short_id(id)));
      if (how != store::durability::durable) fail("I8", "a lease was made by a commit that is not durable");
      // The lease is a process's; edits make leases of single holds, and users extend them.
      if (current_verb == "create_lease") renewed_at_[id] = runs_.now();
      continue;
    }
    if (lease.expires_at <= was->second.expires_at) continue;
    if (was->second.expires_at <= now && epoch_ == after.epoch) {
      fail("I3", fmt::format("lease {} had expired, and was renewed", short_id(id)));
    }
    check_renewed(id, was->second);
    if (how != store::durability::durable) fail("I8", "a lease was renewed by a commit that is not durable");
  }
  for (const auto& [id, lease] : leases_) {
    if (after.leases.contains(id)) continue;
    dead_leases_.insert(id);
    if (current_verb == "kill" && lease.expires_at > now) {
      fail("I4", fmt::format("lease {} was killed {} ms before its time", short_id(id),
                             (lease.expires_at - now).count() / 1000));
    }
    if (current_verb == "end" && plan_.how == severity::calm) check_left_nothing(id);
  }
}

void oracle::check_renewed(const model::lease_id& id, const store::memory_lease& was) {
  const auto renewed = renewed_at_.find(id);
  const auto* home = runs_.process_of(was.record.pid);
  if (plan_.how != severity::calm || renewed == renewed_at_.end() || home == nullptr) return;
  const auto since = std::exchange(renewed->second, runs_.now());
  const auto passed = home->clock.reading(runs_.now()) - home->clock.reading(since);
  const auto late = passed - std::chrono::nanoseconds{was.record.ttl / 3}.count();
  if (late <= prompt()) return;
  fail("prompt", fmt::format("nothing is wrong, and lease {} was renewed {} ms after its time", short_id(id),
                             late / millisecond));
}

// In a calm run, a program whose calls have all ended soon has no place in a queue.
void oracle::check_withdrawn(const store::memory_tables& after) {
  if (plan_.how != severity::calm) return;
  for (const auto& [name, queue] : after.queues) {
    for (const auto& [ticket, waiter] : queue) {
      const auto* lease = after.find_lease(waiter.lease);
      const auto* runs = lease == nullptr ? nullptr : runs_.process_of(lease->record.pid);
      const auto home = runs == nullptr ? busy_.end() : busy_.find(runs->id);
      if (home == busy_.end() || home->second.operations > 0) continue;
      const auto idle = runs_.now() - home->second.idle_since;
      if (idle <= prompt()) continue;
      fail(
          "prompt",
          fmt::format("nothing is wrong, and hold {} stands in the queue of \"{}\" {} ms after the last call "
                      "of client {} has ended",
                      short_id(waiter.hold), name, idle / millisecond, home->first));
    }
  }
}

// In a calm run, a client that closes releases its holds before it ends its lease.
void oracle::check_left_nothing(const model::lease_id& ended) {
  for (const auto& [name, lock] : locks_) {
    if (std::ranges::count(lock.queue, ended, &model::waiter::lease) > 0)
      fail("close",
           fmt::format("\"{}\": a client has ended its lease, and its place in the queue is left", name));
    if (std::ranges::count(lock.entries, ended, &entry::lease) > 0)
      fail("close", fmt::format("\"{}\": a client has ended its lease, and its hold is left", name));
  }
}

// ---- what users see ----

bool oracle::is_valid(const live_hold& one) const {
  runs_.read_clock_of(one.home);
  const bool valid = one.state->is_valid();
  runs_.read_clock_of(nullptr);
  return valid;
}

// Whether the process has not run for a while, so that it cannot know yet.
bool oracle::was_still(const process& home) const {
  return home.stalled_until + 100 * millisecond > runs_.now();
}

void oracle::check_granted(const hold& got) {
  const auto state = primitives::access::state(got);
  if (granted_[state->name()][state->id()].contains(got.token().value())) return;
  fail("I7", fmt::format("\"{}\": a call returned hold {} with token {}, which was never granted",
                         state->name(), short_id(state->id()), got.token().value()));
}

bool oracle::stands(const hold& one) const {
  const auto state = primitives::access::state(one);
  const auto lock = locks_.find(state->name());
  if (lock == locks_.end()) return false;
  const auto found = find_hold(lock->second.entries, state->id());
  return found != lock->second.entries.end() && leases_.contains(found->lease);
}

bool oracle::has_text(const hold& one, const std::string& text) const {
  const auto known = texts_.find(primitives::access::state(one)->id());
  return known != texts_.end() && known->second.stored == text;
}

void oracle::delivered(const hold& got, bool alone) {
  const uninterrupted now;
  const auto state = primitives::access::state(got);
  if (!state) return;
  check_granted(got);
  const auto id = state->id();
  const auto& name = state->name();
  // A poll would find the grant each time; a wake-up must do so at once.
  if (const auto since = granted_to_waiter_at_.find(id); since != granted_to_waiter_at_.end()) {
    const auto took = runs_.now() - since->second;
    granted_to_waiter_at_.erase(since);
    if (plan_.how == severity::calm && took > second && !plan_.polls && alone) {
      fail("I6", fmt::format("\"{}\": hold {} was granted, and its waiter learned of it {} ms later", name,
                             short_id(id), took / millisecond));
    }
  }
  for (auto [first, last] = holds_.equal_range(id); first != last; ++first) {
    if (first->second.state != state)
      fail("I7", fmt::format("\"{}\": hold {} was returned by two calls", name, short_id(id)));
  }
  const auto& plan = plan_.clients[static_cast<std::size_t>(runs_.home().client) - 1];
  live_hold made{name, id, state, got.stop_token(), &runs_.home(), plan.slow_callback > 0};
  holds_.emplace(id, made);
}

// hold::stop_token() would notify a hold that is lost, so the token from before counts.
bool oracle::is_told(const hold& was) const {
  const auto state = primitives::access::state(was);
  const auto found = state ? holds_.find(state->id()) : holds_.end();
  return found == holds_.end() || found->second.stop.stop_requested();
}

void oracle::lost(const hold& was) {
  const uninterrupted now;
  for (const auto& [id, one] : holds_) {
    const auto& entries = locks_[one.name].entries;
    if (const auto stands = find_hold(entries, id); stands != entries.end()) check_loss(one, *stands);
  }
  if (is_told(was) || was_still(runs_.home())) return;
  const auto state = primitives::access::state(was);
  fail("I5", fmt::format("\"{}\": hold {} is lost ({}), and its stop token has not fired", state->name(),
                         short_id(state->id()), to_string(was.loss())));
}

void oracle::refused_as_other(const std::string& name, const model::lease_id& lease) {
  const uninterrupted now;
  for (const auto& one : locks_[name].entries) {
    if (one.exclusive || one.lease != lease || !leases_.contains(lease)) continue;
    fail("I7", fmt::format("\"{}\": a call was refused as for another lock, and hold {} was granted to it",
                           name, short_id(one.hold)));
  }
}

void oracle::given_up(const hold& was) {
  given_up(primitives::access::state(was));
}

void oracle::given_up(const std::shared_ptr<client_layer::hold_state>& was) {
  const uninterrupted now;
  if (!was) return;
  if (const auto found = holds_.find(was->id()); found != holds_.end()) holds_.erase(found);
}

void oracle::text_begins(const hold& held, const std::string& text) {
  const uninterrupted now;
  const auto id = primitives::access::state(held)->id();
  auto& known = texts_[id];
  known.may_be.push_back(text);
  // If a waiter does not know of its grant, and is granted the lock again after that grant was taken by force, both
  // grants have one id.
  const auto& entries = locks_[held.name()].entries;
  known.was_gone = gone_.contains(id) && find_hold(entries, id) == entries.end();
}

void oracle::text_stored(const hold& held, const std::string& text) {
  const uninterrupted now;
  if (!is_safe()) return;
  const auto id = primitives::access::state(held)->id();
  auto& known = texts_[id];
  const auto& entries = locks_[held.name()].entries;
  if (known.was_gone) {
    fail("text",
         fmt::format("\"{}\": hold {} was over, and set_data has succeeded", held.name(), short_id(id)));
  }
  if (find_hold(entries, id) != entries.end() && known.stored != text) {
    fail("text", fmt::format("\"{}\": set_data of hold {} has succeeded, and its text is \"{}\"", held.name(),
                             short_id(id), known.stored));
  }
  known.may_be = {text};
}

void oracle::text_refused(const hold& held, const std::string& text, const error& failure) {
  const uninterrupted now;
  if (!is_safe()) return;
  const auto state = primitives::access::state(held);
  auto& known = texts_[state->id()];
  if (!failure.outcome_unknown()) {
    known.may_be.erase(std::ranges::find(known.may_be, text));
    if (known.stored == text && std::ranges::count(known.may_be, text) == 0) {
      fail("text", fmt::format("\"{}\": set_data of hold {} was refused, and the text is stored", held.name(),
                               short_id(state->id())));
    }
  }
  const auto& entries = locks_[held.name()].entries;
  const auto stands = find_hold(entries, state->id());
  const bool is_over = failure.code() == errc::hold_lost;
  if (is_over && stands != entries.end() && leases_.contains(stands->lease) && state->is_valid()) {
    fail("text", fmt::format("\"{}\": set_data says that hold {} is lost, and it stands", held.name(),
                             short_id(state->id())));
  }
  if (!is_over && known.was_gone && plan_.how == severity::calm) {
    fail("text", fmt::format("\"{}\": hold {} was over, and set_data says: {}", held.name(),
                             short_id(state->id()), failure.what()));
  }
}

void oracle::text_seen(const hold& held, const std::string& text) {
  const uninterrupted now;
  const auto id = primitives::access::state(held)->id();
  if (std::ranges::count(texts_[id].may_be, text) > 0) return;
  fail("text",
       fmt::format("\"{}\": an operator sees the text \"{}\" of hold {}", held.name(), text, short_id(id)));
}

void oracle::met(const std::string& name, std::int64_t generation) {
  const uninterrupted now;
  if (generation > highest_[name])
    fail("I7",
         fmt::format("\"{}\": an arrival returned the number {}, which was never given", name, generation));
  if (++met_[name][generation] > barrier_parties)
    fail("I7",
         fmt::format("\"{}\": too many arrivals were told that generation {} is theirs", name, generation));
}

void oracle::found_open(const std::string& name, nanoseconds began) {
  const uninterrupted now;
  const auto& known = openings_[name];
  if (known.is_open || known.closed_at >= began) return;
  fail("I7", fmt::format("\"{}\": a call says that the latch is open, and it is not", name));
}

// The hold was passed on, so only the end of its own lease can have been reported meanwhile.
void oracle::passed_on(const hold& was) {
  const uninterrupted now;
  const auto state = primitives::access::state(was);
  if (!is_safe() || !state->lease()->is_valid(state->engine().environment().time.now())) return;
  if (was.loss() == loss::none) return;
  fail("loss", fmt::format("\"{}\": hold {} was transferred, and says that it is lost ({})", state->name(),
                           short_id(state->id()), to_string(was.loss())));
}

void oracle::released(const std::string& name, const hold_id& id, release_result how) {
  records_.event("release returns", [&] {
    return fmt::format("\"{}\" {}: {}", name, id.to_string().substr(24), to_string(how));
  });
}

void oracle::guarded_write(const std::string& name, const model::hold_id& hold, std::int64_t token) {
  const auto& lock = locks_[name];
  if (find_hold(lock.entries, hold) == lock.entries.end()) {
    fail("guard", fmt::format("\"{}\": a guarded write of hold {} has committed, and the hold is gone", name,
                              short_id(hold)));
  }
  auto& last = written_[name];
  if (token < last && lock.row.kind != lock_kind::shared_mutex && lock.row.kind != lock_kind::semaphore) {
    fail("guard", fmt::format("\"{}\": a guarded write with token {} has committed after one with {}", name,
                              token, last));
  }
  last = std::max(last, token);
}

void oracle::ends(const process& home) {
  auto& its = busy_[home.id];
  if (--its.operations == 0) its.idle_since = runs_.now();
}

void oracle::release_ended(const std::string& name, nanoseconds began, nanoseconds stalled_before,
                           nanoseconds limit) {
  const auto guarded = [&](const operation& one) {
    return one.what == action::guarded_write && name_of(one.where) == name;
  };
  const bool waits = plan_.how != severity::calm || std::ranges::any_of(plan_.operations, guarded);
  call_ended("release", began, stalled_before, waits ? limit : prompt());
}

void oracle::call_ended(std::string_view what, nanoseconds began, nanoseconds stalled_before,
                        nanoseconds limit) {
  const auto took = runs_.now() - began - (runs_.home().stalled_in_total - stalled_before);
  if (limit == never || took <= limit) return;
  fail("limit", fmt::format("{} took {} ms, and should have taken at most {}", what, took / millisecond,
                            limit / millisecond));
}

void oracle::call_failed(std::string_view what, const error& failure, bool expected) {
  records_.event("error", [&] {
    return fmt::format("{}: {}: {}", what, rowlock::to_string(failure.kind()), failure.what());
  });
  if (failure.code() == errc::internal) fail("internal error", failure.what());
  if (plan_.how == severity::calm && !expected) {
    fail("I10", fmt::format("nothing is wrong, and {} failed: {}: {}", what,
                            rowlock::to_string(failure.kind()), failure.what()));
  }
}

// Reconciliation repairs what faults leave behind. Without a fault it must have nothing to repair.
void oracle::logged(std::string_view line) {
  if (plan_.how == severity::calm && line.find("was unknown to the client") != std::string_view::npos) {
    fail("I7", fmt::format("nothing is wrong, and a client has lost track of what it was granted: {}", line));
  }
}

// ---- the end ----

bool oracle::has_untold_holds() const {
  return std::ranges::any_of(holds_, [&](const auto& known) {
    const auto& one = known.second;
    const auto lock = locks_.find(one.name);
    return !one.home->dead && is_valid(one) &&
           (lock == locks_.end() || find_hold(lock->second.entries, one.id) == lock->second.entries.end());
  });
}

void oracle::check_holds_at_rest() {
  for (const auto& [id, one] : holds_) {
    if (one.home->dead) continue;
    const auto& entries = locks_[one.name].entries;
    const auto found = find_hold(entries, id);
    const bool stands = found != entries.end() && leases_.contains(found->lease);
    const bool valid = is_valid(one);
    if (valid && !stands) {
      fail("I6", fmt::format("\"{}\": hold {} of client {} is gone, and was not told so", one.name,
                             short_id(id), one.home->id));
    }
    if (!valid && !one.stop.stop_requested() && !one.slow_callbacks) {
      fail("I5", fmt::format("\"{}\": hold {} of client {} is lost, and its stop token has not fired",
                             one.name, short_id(id), one.home->id));
    }
  }
}

// All members of a complete generation continue. With faults, one of them may not learn of it.
void oracle::check_meetings() {
  if (plan_.how != severity::calm) return;
  for (const auto& [name, generations] : met_) {
    std::int64_t missing = 0;
    for (const auto& [number, told] : generations) missing += barrier_parties - told;
    if (missing > arrivals_abandoned_)
      fail("I7", fmt::format("\"{}\": {} member(s) of complete generations were not told", name, missing));
  }
}

void oracle::check_nothing_is_left() {
  check_meetings();
  for (const auto& [name, lock] : locks_) {
    for (const auto& waiter : lock.queue) {
      fail("I6", fmt::format("\"{}\": waiter {} is still in the queue, and nobody waits", name,
                             short_id(waiter.hold)));
    }
    if (is_rendezvous(lock.row.kind)) {
      if (lock.row.kind == lock_kind::barrier && !lock.entries.empty())
        fail("I6", fmt::format("\"{}\": a member of an earlier generation is left", name));
      continue;
    }
    for (const auto& one : lock.entries) {
      if (holds_.contains(one.hold)) continue;
      const auto lease = leases_.find(one.lease);
      fail("I6", fmt::format("\"{}\": hold {} with token {} is left, and nobody has it; its lease {}", name,
                             short_id(one.hold), one.token,
                             lease == leases_.end()
                                 ? "is dead"
                                 : "lives until " + std::to_string(lease->second.expires_at.count())));
    }
    if (lock.entries.empty() && lock.row.in_use != 0)
      fail("I1", fmt::format("\"{}\" is free, and {} of it is in use", name, lock.row.in_use));
  }
}

void oracle::check_closed() {
  if (leases_.empty()) return;
  fail("close", fmt::format("all clients are closed, and {} lease(s) are left", leases_.size()));
}

}  // namespace rowlock::simulator
