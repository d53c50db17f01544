// Operations of users for which no thread waits.
#include "simulator/actor.hpp"

#include "primitives/access.hpp"

#include <rowlock/candidate.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace rowlock::simulator {

namespace {

// The beginning of an asynchronous call does not wait, so it takes no longer than this.
constexpr nanoseconds at_once = 400 * millisecond;

std::chrono::nanoseconds length_of(nanoseconds length) {
  return std::chrono::nanoseconds{length};
}

bool is_abandoned(action what) {
  return what == action::abandon_async || what == action::abandon_all_async ||
         what == action::abandon_arrival;
}

bool is_in_coroutine(const operation& one) {
  return one.decides(detail::coroutine, 2) == 0;
}

}  // namespace

// Begins the request, and runs the executor's functions until there is a result. Throws the request's failure.
template <class Request>
typename Request::result actor::outcome_of(const operation& one, Request asked, nanoseconds limit) {
  const bool in_coroutine = is_in_coroutine(one);
  const bool runs_at_once = !in_coroutine && one.decides(detail::executor, 4) == 0;
  std::stop_source stop;
  std::optional<nanoseconds> stopped_after;
  // Perhaps nobody else arrives at the barrier, and nobody opens the latch.
  const bool may_wait_for_ever = one.where != place::barrier && one.where != place::latch;
  if (one.decides(detail::stop, 3) == 0 || (!asked.limit && !may_wait_for_ever)) {
    asked.how.stop = stop.get_token();
    stopped_after = asked.limit ? one.limit / 2 : one.limit;
  }
  async_call<Request> call{runs_at_once ? executor_kind::at_once : executor_kind::in_caller};
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  call.begin(asked, in_coroutine);
  checks_.call_ended(fmt::format("the beginning of {}", to_string(one.what)), began, still, at_once);
  if (stopped_after && !call.run(length_of(*stopped_after))) stop.request_stop();
  call.run();
  if (asked.limit || stopped_after)
    checks_.call_ended(fmt::format("#{} {}", one.number, to_string(one.what)), began, still, limit);
  return call.take();
}

// Begins the request, and never takes the result: the executor loses it, or the coroutine is destroyed.
template <class Request>
void actor::abandon(const operation& one, const Request& asked) {
  constexpr executor_kind kinds[] = {executor_kind::drops, executor_kind::throws, executor_kind::in_caller,
                                     executor_kind::in_caller};
  async_call<Request> call{kinds[one.decides(detail::executor, std::size(kinds))]};
  checks_.begins(home_);  // the call may wait for ever, though nobody takes its result
  call.begin(asked, is_in_coroutine(one));
  pause(one.keep);
}

void actor::call_asynchronously(const operation& one) {
  acquire_options how;
  std::optional<time_limit> limit;
  switch (one.what) {
    case action::acquire_async:
    case action::acquire_all_async: break;
    case action::arrive_async:
    case action::wait_at_latch_async:
      if (one.number % 3 != 0) limit = length_of(one.limit);
      break;
    case action::abandon_async:
    case action::abandon_all_async:
    case action::abandon_arrival:
      // A coroutine that is destroyed is no longer a member. An arrival with a callback still is.
      if (one.number % 2 == 0 || (one.what == action::abandon_arrival && !is_in_coroutine(one)))
        limit = length_of(one.limit);
      break;
    default: limit = length_of(one.limit);
  }
  switch (one.what) {
    case action::arrive_async:
    case action::abandon_arrival: {
      const barrier at{*db_, name_of(place::barrier), barrier_parties};
      const an_arrival asked{&at, limit};
      if (is_abandoned(one.what)) {
        checks_.arrival_abandoned();
        return abandon(one, asked);
      }
      const auto met = outcome_of(one, asked, limit_of(one) + 2 * longest_call());
      if (met.generation) checks_.met(name_of(place::barrier), *met.generation);
      return;
    }
    case action::wait_at_latch_async: {
      const latch on{*db_, name_of(place::latch), latch_count};
      const auto began = runs_.now();
      if (outcome_of(one, a_latch{&on, limit}, limit_of(one)).open)
        checks_.found_open(name_of(place::latch), began);
      return;
    }
    case action::acquire_all_async:
    case action::acquire_all_async_within:
    case action::abandon_all_async: {
      const several_locks asked{several(one, *db_), limit, ttl_for_several(one)};
      if (is_abandoned(one.what)) return abandon(one, asked);
      return keep(outcome_of(one, asked, limit_of(one)).holds, one);
    }
    default: {
      mutex plain{*db_, name_of(one.where == place::shared ? place::first_mutex : one.where)};
      shared_mutex reads{*db_, name_of(place::shared)};
      const one_lock asked{one.where == place::shared ? shared(reads) : wanted{plain}, limit};
      if (is_abandoned(one.what)) return abandon(one, asked);
      return keep(outcome_of(one, asked, limit_of(one)).hold, one);
    }
  }
}

void actor::release_without_thread(hold got, const operation& one) {
  const auto name = got.name();
  const auto id = got.id();
  checks_.given_up(got);
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  const auto how = one.decides(detail::release_executor, 5);
  if (how == 0) {
    release_async(std::move(got));
    return checks_.call_ended("release_async", began, still, at_once);
  }
  async_call<a_release> call{how == 1 ? executor_kind::drops : executor_kind::in_caller};
  call.begin({std::make_shared<hold>(std::move(got))}, how < 4);
  checks_.call_ended("the beginning of release_async", began, still, at_once);
  if (how <= 2) return pause(one.keep / 4);  // nobody takes the result
  call.run();
  checks_.release_ended(name, began, still, close_limit());
  checks_.released(name, id, call.take().how);
}

void actor::stand_for_office(const operation& one) {
  election office{*db_, name_of(place::election)};
  task_box tasks;
  term* leads = nullptr;
  std::stop_token over;
  candidate_options how;
  const auto manner = one.decides(detail::standing, 8);
  how.until_return = manner == 0;
  how.requeue = manner != 1;
  how.elected = [&](term& won, const std::stop_token& stops) {
    checks_.delivered(won.office());
    leads = &won;
    over = stops;
    say(won.office(), one);
    pause(one.keep / 4);
    if (manner == 2) throw std::runtime_error("the program cannot lead");
  };
  how.lost = [&](loss why) {
    if (!over.stop_requested()) checks_.fail("I5", "a candidate is told of the end, and nothing has stopped");
    if (why != loss::none) wait_until_told(leads->office());
    checks_.given_up(std::exchange(leads, nullptr)->office());
  };
  how.failed = [&](const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const error& failure) {
      checks_.call_failed("candidate", failure, is_expected(one, failure));
    } catch (const std::runtime_error&) {
      // The test's elected() has thrown it.
    }
  };
  candidate stands{tasks.get(), office, how};
  for (int i = 0; i < 3; ++i) {
    const auto until = runs_.now() + one.limit + one.keep / 4;
    tasks.run(length_of(one.limit + one.keep / 4), [&] { return runs_.now() >= until; });
    if (one.decides(detail::stop, 2) == 0) std::ignore = stands.resign();
  }
  if (leads != nullptr && manner % 2 != 0) checks_.given_up(std::exchange(leads, nullptr)->office());
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  stands.close(leads != nullptr ? close_mode::tell : close_mode::silent);
  checks_.call_ended("candidate::close", began, still, close_limit());
}

// Whether a call that was under way when its client was closed has reported its end.
template <class Call>
std::optional<typename Call::result> actor::end_of(Call& call) {
  // The check is made in several steps, because the process may stand still in one of them.
  bool is_over = false;
  for (int i = 0; i < 8 && !is_over; ++i) is_over = call.run(std::chrono::milliseconds{50});
  if (!is_over) checks_.fail("close", "the client is closed, and the executor of a call was not called");
  try {
    return call.take();
  } catch (const error& failure) {
    checks_.call_failed("a call of a closed client", failure,
                        failure.code() == errc::closed || failure.code() == errc::mismatch ||
                            failure.code() == errc::broken_barrier);
    return {};
  }
}

void actor::close_meanwhile(const operation& one) {
  client db = open_with_retry();  // a client that the program's other threads do not use
  const auto calls = one.decides(detail::calls, 32);
  const auto is_wanted = [&](unsigned which) { return (calls >> which & 1U) != 0; };
  mutex lock{db, name_of(place::second_mutex)};
  mutex kept{db, name_of(place::first_mutex)};
  const barrier at{db, name_of(place::barrier), barrier_parties};
  const latch on{db, name_of(place::latch), latch_count};
  const std::optional<time_limit> limit =
      one.number % 2 == 0 ? std::optional<time_limit>{length_of(one.limit)} : std::nullopt;
  const bool in_coroutine = is_in_coroutine(one);
  const auto kind = one.decides(detail::executor, 3) == 0 && !in_coroutine ? executor_kind::at_once
                                                                           : executor_kind::in_caller;
  async_call<one_lock> acquire{kind};
  async_call<several_locks> acquire_several{kind};
  async_call<an_arrival> arrive{kind};
  async_call<a_latch> wait{kind};
  async_call<a_release> release{kind};
  hold got = is_wanted(4) ? kept.try_acquire() : hold{};
  if (got.token() != fencing_token{}) checks_.delivered(got);
  if (is_wanted(0)) acquire.begin({wanted{lock}, limit}, in_coroutine);
  if (is_wanted(1)) acquire_several.begin({several(one, db), limit, ttl_for_several(one)}, in_coroutine);
  if (is_wanted(2)) {
    checks_.arrival_abandoned();
    arrive.begin({&at, limit}, in_coroutine);
  }
  if (is_wanted(3)) wait.begin({&on, limit}, in_coroutine);
  pause(one.keep / 8);
  checks_.given_up(got);
  if (is_wanted(4)) release.begin({std::make_shared<hold>(std::move(got))}, in_coroutine);
  if (one.decides(detail::stop, 2) == 0) pause(one.keep / 16);
  close_client(db);
  if (is_wanted(0)) {
    // The callback ran only when the client was closed, which may have taken long.
    if (const auto end = end_of(acquire); end && end->hold.token() != fencing_token{}) {
      checks_.delivered(end->hold, false);
      checks_.given_up(end->hold);
    }
  }
  if (is_wanted(1)) {
    if (const auto end = end_of(acquire_several)) {
      for (const auto& one_hold : end->holds) {
        checks_.delivered(one_hold, false);
        checks_.given_up(one_hold);
      }
    }
  }
  if (is_wanted(2)) {
    if (const auto end = end_of(arrive); end && end->generation)
      checks_.met(name_of(place::barrier), *end->generation);
  }
  if (is_wanted(3)) std::ignore = end_of(wait);
  if (is_wanted(4)) std::ignore = end_of(release);
}

}  // namespace rowlock::simulator
