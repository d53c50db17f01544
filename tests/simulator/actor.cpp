#include "simulator/actor.hpp"

#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace rowlock::simulator {

namespace {

using std::chrono::milliseconds;

// The ttl ends before the user gives the hold back, unless the hold is kept for a short time only.
std::chrono::milliseconds ttl_of(const operation& one) {
  return milliseconds{500 + one.keep / millisecond / 2};
}

lock_options options_of(place where) {
  lock_options made;
  made.fair = where != place::unfair_mutex;
  if (where == place::delayed_mutex) made.delay = milliseconds{300};
  return made;
}

}  // namespace

actor::actor(const story& plan, int client, process& home, scheduler& runs, recorder& records, oracle& checks,
             world& where, shared_state& shared)
    : program(plan, client, home, runs, records, checks, shared), world_(where) {}

std::vector<operation> actor::first_of_second_life() const {
  operation first;
  first.client = client_;
  first.what = action::reclaim;
  first.keep = 100 * millisecond;
  first.number = -1;
  return {first};
}

client actor::open_with_retry() {
  for (;;) {
    try {
      return open(world_, checks_);
    } catch (const error& failure) {
      checks_.call_failed("connect", failure, false);
      pause(50 * millisecond);
    }
  }
}

void actor::connect() {
  db_ = open_with_retry();
}

void actor::close() {
  close_client(*db_);
  db_.reset();
}

bool actor::is_expected(const operation& one, const error& failure) const {
  switch (failure.kind()) {
    case errc::closed: return true;  // another thread of the program connects again
    case errc::cancelled: return true;
    case errc::broken_barrier: return true;
    case errc::deadlock: return true;
    case errc::hold_lost: return true;  // by force
    case errc::mismatch:
      return one.what == action::wrong_kind || one.where == place::semaphore ||
             one.what == action::acquire_all || one.what == action::acquire_all_within ||
             one.what == action::acquire_all_async || one.what == action::acquire_all_async_within ||
             one.what == action::acquire_nested;
    case errc::invalid_argument: return true;  // a latch is counted down below zero
    case errc::contention: return true;        // a guarded transaction is open
    default: return false;
  }
}

void actor::act(const operation& one) {
  switch (one.what) {
    case action::read:
    case action::read_within:
    case action::write:
    case action::downgrade:
    case action::upgrade: return use_shared_mutex(one);
    case action::permits:
    case action::permits_within:
    case action::drain:
    case action::resize: return use_semaphore(one);
    case action::reenter: return use_recursive(one);
    case action::standard_shared: return use_standard_names(one);
    case action::count_down:
    case action::wait_at_latch:
    case action::reset_latch:
    case action::arrive: return use_rendezvous(one);
    case action::campaign:
    case action::observe: return use_election(one);
    case action::stand_for_office: return stand_for_office(one);
    case action::acquire_all:
    case action::acquire_all_within: return acquire_several(one);
    case action::wait_at_latch_async:
    case action::arrive_async:
    case action::abandon_arrival:
    case action::acquire_all_async:
    case action::acquire_all_async_within:
    case action::abandon_all_async:
    case action::acquire_async:
    case action::acquire_async_within:
    case action::abandon_async: return call_asynchronously(one);
    case action::close_meanwhile: return close_meanwhile(one);
    case action::transfer:
    case action::extend:
    case action::adopt:
    case action::reclaim: return pass_on(one);
    case action::force:
    case action::request_release:
    case action::sweep:
    case action::collect:
    case action::look:
    case action::record:
    case action::raise_epoch:
    case action::set_skew:
    case action::wrong_kind: return operate(one);
    case action::reopen: return reopen(one);
    default: return acquire_exclusively(one);
  }
}

// ---- the parts of operations ----

void actor::release(hold& got) {
  const auto name = got.name();
  const auto id = got.id();
  checks_.given_up(got);
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  const auto result = got.release();
  checks_.release_ended(name, began, still, close_limit());
  checks_.released(name, id, result);
}

// The user of a hold looks at it now and then, and stops when it is lost or its release is requested.
void actor::look_after(const hold& got, nanoseconds length) {
  const auto until = runs_.now() + length;
  std::optional<std::stop_callback<std::function<void()>>> on_loss;
  if (plan().slow_callback > 0) {
    on_loss.emplace(got.stop_token(), [this] {
      records_.count(fault_kind::callback_slow);
      pause(plan().slow_callback);
    });
  }
  while (got.valid() && runs_.now() < until && !got.release_requested().stop_requested())
    pause(std::min<nanoseconds>(100 * millisecond, std::max<nanoseconds>(until - runs_.now(), millisecond)));
  if (got.valid() || plan().slow_callback > 0 || got.loss() == loss::none) return;
  wait_until_told(got);
}

// Waits for the stop token of a hold that is lost: the token has fired or is about to.
void actor::wait_until_told(const hold& got) {
  for (int i = 0; i < 20 && !checks_.is_told(got); ++i) pause(50 * millisecond);
  checks_.lost(got);
}

void actor::keep(hold got, const operation& one) {
  if (got.token() == fencing_token{}) return;  // busy
  checks_.delivered(got);
  records_.event("has", [&] {
    return fmt::format("#{} \"{}\" {} token {}", one.number, got.name(), got.id().to_string().substr(24),
                       got.token().value());
  });
  if (one.decides(detail::text, 4) == 0) say(got, one);
  look_after(got, one.keep);
  if (one.decides(detail::release, 5) == 0) return release_without_thread(std::move(got), one);
  release(got);
}

void actor::keep(hold_set got, const operation& one) {
  if (got.size() == 0) return;
  for (const auto& held : got) checks_.delivered(held, false);
  if (one.decides(detail::text, 4) == 0) say(got[0], one);
  look_after(got[0], one.keep);
  for (const auto& held : got) checks_.given_up(held);
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  std::ignore = got.release();
  checks_.call_ended("release of several", began, still, close_limit());
}

// Attaches a text to the hold, which may be lost. Sometimes an operator looks whether the text is there.
void actor::say(const hold& got, const operation& one) {
  const auto text = fmt::format("#{} at {}", one.number, runs_.now());
  checks_.text_begins(got, text);
  try {
    timed(one, 2 * longest_call() + slack(), [&] {
      got.set_data(text);
      return 0;
    });
  } catch (const error& failure) {
    checks_.text_refused(got, text, failure);
    const bool expected = failure.code() == errc::hold_lost || failure.code() == errc::contention;
    return checks_.call_failed("set_data", failure, expected);
  }
  checks_.text_stored(got, text);
  records_.event("says",
                 [&] { return fmt::format("\"{}\" {}", got.name(), got.id().to_string().substr(24)); });
  if (one.decides(detail::text_read, 4) != 0) return;
  try {
    const auto seen = admin{*db_}.show(got.name());
    if (!seen) return;
    for (const auto& holder : seen->holders) {
      if (holder.hold_id == got.id()) checks_.text_seen(got, holder.data);
    }
  } catch (const error& failure) {
    checks_.call_failed("show", failure, false);
  }
}

// Runs a user's transaction, in which the hold is proved before the writes.
void actor::guard(hold& got, const operation& one) {
  const auto state = primitives::access::state(got);
  const auto name = got.name();
  if (!world_.begin_guard(name, state->id())) return;
  records_.event("guarded transaction", [&] { return fmt::format("#{} \"{}\" begins", one.number, name); });
  pause(one.keep / 4);
  const uninterrupted now;
  if (!world_.end_guard(name, state->id())) return;
  checks_.guarded_write(name, state->id(), got.token().value());
  records_.event("guarded transaction", [&] { return fmt::format("#{} \"{}\" commits", one.number, name); });
}

// ---- exclusive locks ----

void actor::acquire_exclusively(const operation& one) {
  const auto settings = plan().settings;
  acquire_options how;
  auto limit = never;
  const auto where = one.where;
  const bool shared = where == place::shared;
  std::optional<mutex> plain;
  std::optional<shared_mutex> writer;
  if (shared) {
    writer.emplace(*db_, name_of(where));
  } else {
    plain.emplace(*db_, name_of(where), options_of(where));
  }
  exclusive_lock& lock = shared ? static_cast<exclusive_lock&>(*writer) : *plain;
  const auto within = [&] {
    limit = limit_of(one);
    return timed(one, limit, [&] { return lock.try_acquire_for(in_chrono(one.limit), how); });
  };
  switch (one.what) {
    case action::acquire: return keep(lock.acquire(), one);
    case action::try_acquire:
      return keep(timed(one, longest_call() + slack(), [&] { return lock.try_acquire(); }), one);
    case action::acquire_within: return keep(within(), one);
    case action::acquire_stopped: {
      const delayed_stop stop{runs_, one.limit};
      how.stop = stop.token();
      return keep(timed(one, limit_of(one), [&] { return lock.acquire(how); }), one);
    }
    case action::acquire_with_ttl: how.ttl = ttl_of(one); return keep(within(), one);
    case action::acquire_with_min_hold: how.min_hold = milliseconds{300}; return keep(within(), one);
    case action::standard_lock: {
      if (!timed(one, limit_of(one), [&] { return lock.try_lock_for(in_chrono(one.limit)); })) return;
      checks_.delivered(lock.current_hold());
      look_after(lock.current_hold(), one.keep);
      checks_.given_up(lock.current_hold());
      return lock.unlock();
    }
    case action::acquire_nested: {
      mutex other{*db_, name_of(place::second_mutex)};
      mutex& outer_lock = one.number % 2 == 0 ? *plain : other;
      mutex& inner_lock = one.number % 2 == 0 ? other : *plain;
      how.detect_deadlock = true;
      hold outer = outer_lock.acquire(how);
      checks_.delivered(outer);
      pause(one.pause);
      try {
        keep(inner_lock.try_acquire_for(std::chrono::seconds{20}, how), one);
      } catch (...) {
        release(outer);
        throw;
      }
      return release(outer);
    }
    case action::guarded_write: {
      hold got = within();
      if (got.token() == fencing_token{}) return;
      checks_.delivered(got);
      for (int i = 0; i < 2; ++i) {
        guard(got, one);
        pause(one.keep / 2);
      }
      return release(got);
    }
    case action::keep_to_the_end: {
      hold got = within();
      if (got.token() == fencing_token{}) return;
      checks_.delivered(got);
      if (one.decides(detail::text, 2) == 0) say(got, one);
      shared_.wait_until(runs_, shared_.at_rest);
      if (one.decides(detail::text, 4) == 0) say(got, one);
      return release(got);
    }
    default: return;
  }
}

void actor::use_shared_mutex(const operation& one) {
  shared_mutex lock{*db_, name_of(place::shared)};
  switch (one.what) {
    case action::read: return keep(lock.acquire_shared(), one);
    case action::read_within:
      return keep(
          timed(one, limit_of(one), [&] { return lock.try_acquire_shared_for(in_chrono(one.limit)); }), one);
    case action::write: return keep(lock.acquire(), one);
    case action::downgrade: {
      hold got = timed(one, limit_of(one), [&] { return lock.try_acquire_for(in_chrono(one.limit)); });
      if (got.token() == fencing_token{}) return;
      checks_.delivered(got);
      try {
        pause(one.keep / 2);
        if (one.decides(detail::text, 2) == 0) say(got, one);
        timed(one, 2 * longest_call() + slack(), [&] {
          lock.downgrade(got);
          return 0;
        });
        look_after(got, one.keep / 2);
      } catch (...) {
        release(got);
        throw;
      }
      return release(got);
    }
    case action::upgrade: {
      hold got = timed(one, limit_of(one), [&] { return lock.try_acquire_shared_for(in_chrono(one.limit)); });
      if (got.token() == fencing_token{}) return;
      checks_.delivered(got);
      try {
        pause(one.keep / 2);
        if (one.decides(detail::text, 2) == 0) say(got, one);
        std::ignore = timed(one, 2 * longest_call() + slack(), [&] { return lock.try_upgrade(got); });
        look_after(got, one.keep / 2);
      } catch (...) {
        release(got);
        throw;
      }
      return release(got);
    }
    default: return;
  }
}

// Requests permits. If a program's first such request is refused, what the program has there belongs to that request.
template <class Call>
hold actor::permits(Call call) {
  const bool alone = ++semaphore_calls_ == 1;
  try {
    return call();
  } catch (const error& failure) {
    const auto lease = primitives::access::engine(*db_)->services().queue.lease();
    if (alone && semaphore_calls_ == 1 && failure.code() == errc::mismatch && lease)
      checks_.refused_as_other(name_of(place::semaphore), lease->id());
    throw;
  }
}

void actor::use_semaphore(const operation& one) {
  counting_semaphore lock{*db_, name_of(place::semaphore), semaphore_capacity};
  switch (one.what) {
    case action::permits: return keep(permits([&] { return lock.acquire(one.amount); }), one);
    case action::permits_within: {
      hold got = permits([&] {
        return timed(one, limit_of(one),
                     [&] { return lock.try_acquire_for(in_chrono(one.limit), one.amount); });
      });
      if (got.weight() < 2) return keep(std::move(got), one);
      checks_.delivered(got);
      try {
        pause(one.keep / 2);
        if (one.decides(detail::text, 2) == 0) say(got, one);
        timed(one, 2 * longest_call() + slack(), [&] {
          lock.release(got, got.weight() - 1);
          return 0;
        });
        look_after(got, one.keep / 2);
      } catch (...) {
        release(got);
        throw;
      }
      return release(got);
    }
    case action::drain:
      ++semaphore_calls_;
      return keep(timed(one, longest_call() + slack(), [&] { return lock.drain(); }), one);
    case action::resize: {
      // Changes the capacity, so that users that know the old one are refused, and restores it.
      lock.resize(semaphore_capacity + (one.amount % 2 == 0 ? one.amount : -1));
      pause(one.keep / 8);
      for (int tries = 0; tries < 40; ++tries) {
        try {
          return lock.resize(semaphore_capacity);
        } catch (const error& failure) {
          checks_.call_failed("resize", failure, false);
          pause(100 * millisecond);
        }
      }
      return;
    }
    default: return;
  }
}

// Locks the lock to write, then reads as well, and becomes a reader; or only reads.
void actor::use_standard_names(const operation& one) {
  const auto limit = limit_of(one);
  client_layer::hold_ptr held;
  const auto note = [&](const hold& got) {
    if (primitives::access::state(got) == held) return;
    if (held) checks_.given_up(held);
    checks_.delivered(got);
    held = primitives::access::state(got);
  };
  if (one.number % 2 == 0) {
    shared_mutex lock{*db_, name_of(place::shared)};
    if (!timed(one, limit, [&] { return lock.try_lock_shared_for(in_chrono(one.limit)); })) return;
    note(lock.current_hold());
    look_after(lock.current_hold(), one.keep);
    checks_.given_up(held);
    return lock.unlock_shared();
  }
  recursive_shared_mutex lock{*db_, name_of(place::shared)};
  if (!timed(one, limit, [&] { return lock.try_lock_for(in_chrono(one.limit)); })) return;
  note(lock.current_hold());
  try {
    look_after(lock.current_hold(), one.keep / 2);
    // If the hold was lost, this acquires the lock anew.
    if (!lock.try_lock_shared()) throw error(errc::hold_lost, "the lock was lost, and is busy");
    note(lock.current_hold());
    timed(one, 2 * longest_call() + slack(), [&] {
      lock.unlock();
      return 0;
    });
    look_after(lock.current_hold(), one.keep / 2);
  } catch (...) {
    checks_.given_up(held);
    throw;
  }
  checks_.given_up(held);
  lock.unlock_shared();
}

void actor::use_recursive(const operation& one) {
  recursive_mutex lock{*db_, name_of(place::recursive)};
  hold outer = timed(one, limit_of(one), [&] { return lock.try_acquire_for(in_chrono(one.limit)); });
  if (outer.token() == fencing_token{}) return;
  checks_.delivered(outer);
  try {
    for (std::int64_t i = 0; i < one.amount; ++i) {
      hold inner = lock.try_acquire();
      if (inner.token() == fencing_token{}) continue;
      checks_.delivered(inner);
      pause(one.keep / 4);
      release(inner);
    }
  } catch (...) {
    release(outer);
    throw;
  }
  release(outer);
}

// ---- meetings and elections ----

void actor::use_rendezvous(const operation& one) {
  if (one.what == action::arrive) {
    barrier lock{*db_, name_of(place::barrier), barrier_parties};
    const auto met = timed(one, limit_of(one) + 2 * longest_call(),
                           [&] { return lock.arrive_and_wait_for(in_chrono(one.limit)); });
    if (met) checks_.met(name_of(place::barrier), *met);
    return;
  }
  latch lock{*db_, name_of(place::latch), latch_count};
  const auto limit = longest_call() + slack();
  switch (one.what) {
    case action::count_down:
      timed(one, limit, [&] {
        lock.count_down();
        return 0;
      });
      return;
    case action::wait_at_latch: {
      const auto began = runs_.now();
      const bool counts = one.decides(detail::latch, 4) == 0;
      const auto open = timed(one, limit_of(one) + (counts ? limit : 0), [&] {
        return counts ? lock.arrive_and_wait_for(in_chrono(one.limit)) : lock.wait_for(in_chrono(one.limit));
      });
      if (open) checks_.found_open(name_of(place::latch), began);
      return;
    }
    default:
      timed(one, limit, [&] {
        lock.reset();
        return 0;
      });
  }
}

void actor::use_election(const operation& one) {
  election office{*db_, name_of(place::election)};
  if (one.what == action::observe) {
    const auto seen = timed(one, longest_call() + slack(), [&] { return office.observe(); });
    std::ignore = timed(one, limit_of(one), [&] { return office.wait_for(in_chrono(one.limit), seen); });
    return;
  }
  term won = timed(one, limit_of(one), [&] { return office.try_campaign_for(in_chrono(one.limit)); });
  if (won.token() == fencing_token{}) return;
  checks_.delivered(won.office());
  say(won.office(), one);
  look_after(won.office(), one.keep);
  checks_.given_up(won.office());
  std::ignore = won.resign();
}

// ---- several at once ----

std::vector<wanted> actor::several(const operation& one, const client& db) {
  mutex a{db, name_of(place::first_mutex)};
  mutex b{db, name_of(place::second_mutex)};
  shared_mutex c{db, name_of(place::shared)};
  counting_semaphore d{db, name_of(place::semaphore), semaphore_capacity};
  std::vector<wanted> all{a};
  if (one.number % 2 == 0) all.emplace_back(b);
  if (one.number % 3 == 0) all.push_back(shared(c));
  if (one.number % 5 == 0) {
    ++semaphore_calls_;
    all.push_back(rowlock::permits(d, one.amount));
  }
  return all;
}

acquire_options actor::ttl_for_several(const operation& one) {
  acquire_options how;
  if (one.number % 4 < 2) how.ttl = ttl_of(one);
  return how;
}

void actor::acquire_several(const operation& one) {
  const auto all = several(one, *db_);
  const auto how = ttl_for_several(one);
  if (one.what == action::acquire_all) return keep(acquire_all(all, how), one);
  keep(timed(one, limit_of(one), [&] { return try_acquire_all_for(in_chrono(one.limit), all, how); }), one);
}

// ---- from one program to another ----

void actor::pass_on(const operation& one) {
  if (one.what == action::transfer) {
    mutex lock{*db_, name_of(place::first_mutex)};
    hold got = timed(one, limit_of(one), [&] { return lock.try_acquire_for(in_chrono(one.limit)); });
    if (got.token() == fencing_token{}) return;
    checks_.delivered(got);
    shared_.receipts.push_back(got.receipt());
    if (one.decides(detail::text, 2) == 0) say(got, one);
    pause(one.keep / 2);
    checks_.given_up(got);
    try {
      shared_.transfers.push_back(got.transfer(std::chrono::seconds{2}));
      checks_.passed_on(got);
    } catch (...) {
      std::ignore = got.release();
      throw;
    }
    return;
  }
  auto& texts = one.what == action::reclaim ? shared_.receipts : shared_.transfers;
  if (texts.empty()) return;
  const auto text = texts.front();
  if (one.what == action::extend) {
    std::ignore = timed(one, 3 * longest_call() + slack(), [&] { return extend(*db_, text); });
    return;
  }
  if (one.number % 3 != 0) texts.pop_front();  // otherwise another user may use the text as well
  if (one.what == action::adopt) {
    return keep(timed(one, 3 * longest_call() + slack(), [&] { return adopt(*db_, text); }), one);
  }
  // reclaim() takes the hold away, and its holder learns of that later.
  checks_.force_begins(name_of(place::first_mutex));
  try {
    hold got = timed(one, 3 * longest_call() + slack(), [&] { return reclaim(*db_, text); });
    checks_.force_ends(name_of(place::first_mutex), false);
    keep(std::move(got), one);
  } catch (const error&) {
    checks_.force_ends(name_of(place::first_mutex), true);
    throw;
  }
}

// ---- operators ----

void actor::operate(const operation& one) {
  admin console{*db_};
  const auto name = name_of(one.where);
  switch (one.what) {
    case action::force:
    case action::request_release: {
      records_.count(one.what == action::force ? fault_kind::forced_release : fault_kind::release_requested);
      checks_.force_begins(name);
      try {
        if (one.what == action::force) {
          std::ignore = console.release(name);
        } else {
          std::ignore =
              console.request_release(name, {.reason = "simulated",
                                             .within = milliseconds{one.limit / millisecond / 2 + 1},
                                             .then_force = one.number % 2 == 0});
        }
      } catch (const error&) {
        checks_.force_ends(name, true);
        throw;
      }
      return checks_.force_ends(name, false);
    }
    case action::sweep: std::ignore = console.sweep(); return;
    case action::collect: std::ignore = console.collect(milliseconds{one.limit / millisecond}); return;
    case action::look:
      std::ignore = console.list();
      std::ignore = console.show(name);
      std::ignore = console.queue(name);
      std::ignore = console.cycles();
      std::ignore = console.history(name, 10);
      return;
    case action::record:
      if (one.number % 3 == 0) {
        std::ignore = console.stop_recording(name);
      } else {
        console.record({.pattern = name, .keep = 5});
      }
      return;
    case action::raise_epoch: std::ignore = console.raise_epoch(); return;
    case action::set_skew: return console.set_skew(milliseconds{one.amount * 20});
    default: {
      // I11: the name is another kind of lock.
      mutex real{*db_, "kind"};
      hold got = timed(one, limit_of(one), [&] { return real.try_acquire_for(in_chrono(one.limit)); });
      if (got.token() == fencing_token{}) return;
      checks_.delivered(got);
      release(got);
      counting_semaphore other{*db_, "kind", 2};
      const hold wrong = other.try_acquire_for(in_chrono(one.limit));
      // If the mutex itself was lost or collected, the name is free for another kind.
      if (wrong.token() != fencing_token{} && !story_.has(action::collect) &&
          !story_.has(fault_kind::commits_lost))
        checks_.fail("I11", "a mutex was granted as a semaphore");
    }
  }
}

void actor::reopen(const operation& one) {
  if (threads() != 1) return;
  // The client closes with the holds that it has.
  mutex lock{*db_, name_of(place::first_mutex)};
  hold got = timed(one, limit_of(one), [&] { return lock.try_acquire_for(in_chrono(one.limit)); });
  if (got.token() != fencing_token{}) {
    checks_.delivered(got);
    look_after(got, one.keep);
    checks_.given_up(got);
  }
  close();
  pause(one.keep / 4);
  connect();
}

}  // namespace rowlock::simulator
