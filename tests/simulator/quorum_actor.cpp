#include "simulator/quorum_actor.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace rowlock::simulator {

using std::chrono::milliseconds;

quorum_actor::quorum_actor(const story& plan, int client, process& home, scheduler& runs, recorder& records,
                           std::vector<member> members, quorum_oracle& majority, shared_state& shared)
    : program(plan, client, home, runs, records, *members.front().checks, shared),
      members_(std::move(members)),
      majority_(majority) {}

// A member that cannot be reached is left out after some attempts, if a majority can be reached.
void quorum_actor::connect() {
  std::vector<std::optional<client>> opened(members_.size());
  const auto connected = [&] {
    return static_cast<std::size_t>(
        std::ranges::count_if(opened, [](const auto& one) { return one.has_value(); }));
  };
  for (int round = 0; connected() < opened.size(); ++round) {
    if (round == 3 && connected() > opened.size() / 2) break;
    if (round > 0) pause(50 * millisecond);
    for (std::size_t i = 0; i < opened.size(); ++i) {
      if (opened[i]) continue;
      try {
        opened[i] = open(*members_[i].where, *members_[i].checks);
      } catch (const error& failure) {
        checks_.call_failed("connect", failure, false);
      }
    }
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    if (!opened[i]) continue;
    servers_.push_back(i);
    clients_.push_back(std::move(*opened[i]));
  }
  lock_.emplace(clients_, name_of(place::first_mutex), quorum_options{.members = members_.size()});
}

void quorum_actor::close() {
  lock_.reset();
  for (auto& one : clients_) close_client(one);
  clients_.clear();
}

bool quorum_actor::is_expected(const operation& one, const error& failure) const {
  return failure.code() == errc::cancelled ||
         (one.what == action::force && failure.code() == errc::contention);
}

void quorum_actor::act(const operation& one) {
  switch (one.what) {
    case action::force: return force(one);
    case action::sweep:
      for (const auto& db : clients_) std::ignore = admin{db}.sweep();
      return;
    default: return acquire(one);
  }
}

quorum_hold quorum_actor::acquired(const operation& one) {
  acquire_options how;
  // Asking the members, agreeing on a token, and the release of what was granted take a member_timeout each.
  const auto attempt = 3 * in_nanoseconds(plan().settings.ttl) / 50 + slack();
  const auto within = [&] {
    return timed(one, one.limit + slack(), [&] { return lock_->try_acquire_for(in_chrono(one.limit), how); });
  };
  switch (one.what) {
    case action::try_acquire: return timed(one, attempt, [&] { return lock_->try_acquire(); });
    case action::acquire: return lock_->acquire();
    case action::acquire_stopped: {
      const delayed_stop stop{runs_, one.limit};
      how.stop = stop.token();
      return timed(one, one.limit + slack(), [&] { return lock_->acquire(how); });
    }
    case action::acquire_with_ttl: how.ttl = milliseconds{1500 + one.keep / millisecond / 2}; return within();
    default: return within();
  }
}

void quorum_actor::acquire(const operation& one) {
  auto call = majority_.begin_call();
  // The first attempt of a program also makes leases, which may take longer than a member may take to answer.
  const bool retries = one.what == action::acquire_within || one.what == action::acquire_with_ttl;
  if (!retries || one.limit < 500 * millisecond) call.alone = false;
  quorum_hold got;
  try {
    got = acquired(one);
  } catch (...) {
    majority_.end_call(call, false);
    throw;
  }
  const bool granted = got.token() != fencing_token{};
  if (granted) majority_.delivered(got, servers_, call);
  majority_.end_call(call, granted);
  if (!granted) return;
  records_.event("has", [&] { return fmt::format("#{} token {}", one.number, got.token().value()); });
  if (one.decides(detail::text, 3) == 0) say(got, one);
  look_after(got, one.keep);
  if (one.what == action::keep_to_the_end) shared_.wait_until(runs_, shared_.at_rest);
  release(got);
}

// The user of a hold looks at it now and then, and stops when it is lost.
void quorum_actor::look_after(const quorum_hold& got, nanoseconds length) {
  const auto until = runs_.now() + length;
  while (got.valid() && runs_.now() < until) {
    majority_.seen(got);
    pause(std::min<nanoseconds>(50 * millisecond, std::max<nanoseconds>(until - runs_.now(), millisecond)));
  }
  if (got.valid()) return;
  for (int i = 0; i < 20 && !majority_.is_told(got); ++i) pause(50 * millisecond);
  majority_.lost(got);
}

void quorum_actor::say(const quorum_hold& got, const operation& one) {
  const auto text = fmt::format("#{} at {}", one.number, runs_.now());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got.member_hold(i).token() != fencing_token{})
      members_[servers_[i]].checks->text_begins(got.member_hold(i), text);
  }
  try {
    timed(one, in_nanoseconds(plan().settings.ttl) / 50 + slack(), [&] {
      got.set_data(text);
      return 0;
    });
    majority_.text_stored(got, text);
  } catch (const error& failure) {
    checks_.call_failed("set_data", failure, failure.code() == errc::hold_lost);
  }
}

void quorum_actor::release(quorum_hold& got) {
  const auto stood = majority_.standing(got);
  majority_.given_up(got);
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  const auto result = got.release();
  checks_.call_ended("release", began, still, close_limit());
  majority_.released(got, stood, result);
}

// An operator takes the lock from its holder on one member, or on all of them.
void quorum_actor::force(const operation& one) {
  const bool all = one.decides(detail::release, 3) == 0;
  const auto name = name_of(place::first_mutex);
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if (!all && i != static_cast<std::size_t>(one.amount) % clients_.size()) continue;
    auto& checks = *members_[servers_[i]].checks;
    records_.count(fault_kind::forced_release);
    majority_.force_begins();
    checks.force_begins(name);
    try {
      std::ignore = admin{clients_[i]}.release(name);
    } catch (const error&) {
      majority_.force_ends(true);
      checks.force_ends(name, true);
      throw;
    }
    majority_.force_ends(false);
    checks.force_ends(name, false);
  }
}

}  // namespace rowlock::simulator
