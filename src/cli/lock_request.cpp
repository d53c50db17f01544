#include "cli/lock_request.hpp"

#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/counting_semaphore.hpp>
#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

namespace rowlock::cli {

namespace {

template <class Acquire, class Try, class TryFor>
request asking(Acquire acquire, Try try_once, TryFor try_for) {
  return [=](const wait_limit& limit, const acquire_options& how) -> hold {
    if (!limit) return acquire(how);
    if (limit->count() == 0) return try_once(how);
    return try_for(*limit, how);
  };
}

template <class Lock>
request asking(const std::shared_ptr<Lock>& lock) {
  return asking([lock](const auto& how) { return lock->acquire(how); },
                [lock](const auto& how) { return lock->try_acquire(how); },
                [lock](auto limit, const auto& how) { return lock->try_acquire_for(limit, how); });
}

request asking_to_share(const std::shared_ptr<shared_mutex>& lock) {
  return asking([lock](const auto& how) { return lock->acquire_shared(how); },
                [lock](const auto& how) { return lock->try_acquire_shared(how); },
                [lock](auto limit, const auto& how) { return lock->try_acquire_shared_for(limit, how); });
}

request asking_for(const std::shared_ptr<counting_semaphore>& lock, std::int64_t permits) {
  return asking([=](const auto& how) { return lock->acquire(permits, how); },
                [=](const auto& how) { return lock->try_acquire(permits, how); },
                [=](auto limit, const auto& how) { return lock->try_acquire_for(limit, permits, how); });
}

request request_for_lock(const client& db, const lock_words& words) {
  const auto lock = words.options();
  if (words.shared) return asking_to_share(std::make_shared<shared_mutex>(db, words.name, lock));
  if (words.exclusive) return asking(std::make_shared<shared_mutex>(db, words.name, lock));
  if (words.capacity != 0) {
    return asking_for(std::make_shared<counting_semaphore>(db, words.name, words.capacity, lock),
                      words.permits);
  }
  return asking(std::make_shared<mutex>(db, words.name, lock));
}

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// When the next line is due if the latest one was due at `said`: lines are due 1 s, 10 s, 30 s and 1 min after the
// beginning of the wait. From then on the time doubles from line to line, but a line comes at least once an hour.
clock::duration next_report(clock::duration said) {
  if (said < 1s) return 1s;
  if (said < 10s) return 10s;
  if (said < 30s) return 30s;
  if (said < 1min) return 1min;
  return said + std::min<clock::duration>(said, 1h);
}

// The length in words, in whole seconds if it is a second or more.
std::string rough(std::chrono::milliseconds length) {
  return format_duration(length < 1s ? length : std::chrono::floor<std::chrono::seconds>(length));
}

// "host:123 rowlock run and 2 more since 2026-11-23T12:30:00Z (3m)", or "" if nobody holds the lock.
std::string holders_text(const std::optional<lock_info>& lock) {
  if (!lock || lock->holders.empty()) return {};
  const auto& first = lock->holders.front();
  const auto others = lock->holders.size() - 1;
  const auto more = others == 0 ? "" : fmt::format(" and {} more", others);
  if (first.rests) return "nobody: it rests for " + rough(first.expires_in) + more;
  return fmt::format("{}{} since {} ({})", holder_text(first), more, time_text(-first.held_for),
                     rough(first.held_for));
}

}  // namespace

wait_limit lock_words::limit() const {
  if (no_wait) return std::chrono::milliseconds{0};
  if (wait.empty()) return {};
  return parse_duration("--wait", wait);
}

lock_options lock_words::options() const {
  lock_options result;
  result.fair = !unfair;
  if (delay.empty()) return result;
  if (capacity != 0) {
    throw error(errc::invalid_argument,
                "--delay excludes --capacity: the permits of a semaphore do not rest");
  }
  result.delay = parse_duration("--delay", delay);
  return result;
}

void check_data(const std::string& text) {
  try {
    hold{}.set_data(text);
  } catch (const error& problem) {
    if (problem.code() == errc::invalid_argument) throw;
  }
}

request request_for(const client& db, const lock_words& words) {
  auto ask = request_for_lock(db, words);
  if (words.data.empty()) return ask;
  check_data(words.data);
  return [ask = std::move(ask), data = words.data](const wait_limit& limit, const acquire_options& how) {
    auto held = ask(limit, how);
    if (held) held.set_data(data);
    return held;
  };
}

void add_name_and_wait(CLI::App& command, lock_words& words) {
  add_nonempty(command, "NAME", words.name, "The lock's name")->required();
  auto* wait =
      add_nonempty(command, "-w,--wait", words.wait, "Give up after this time, such as 30s; 0: do not wait")
          ->type_name("DURATION");
  command.add_flag("-n,--no-wait", words.no_wait, "The same as --wait 0")->excludes(wait);
  add_nonempty(command, "-E,--conflict-exit-code", words.busy_code, "Exit code for busy, instead of 75")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255));
  add_nonempty(command, "--delay", words.delay,
               "How long the lock rests after its holder was lost (default 0); stored with the name")
      ->type_name("DURATION");
  command.add_flag("--unfair", words.unfair,
                   "Grant the free lock to any request, even before the waiters; stored with the name");
}

void add_kind_and_data(CLI::App& command, lock_words& words) {
  auto* shared =
      command.add_flag("-s,--shared", words.shared,
                       "Take the lock as a reader: together with other readers, but not with a writer");
  auto* exclusive = command.add_flag("-x,--exclusive", words.exclusive,
                                     "Take the lock as a writer: alone; readers of this name use --shared");
  auto* permits = add_nonempty(command, "--permits", words.permits, "How many permits to take (default 1)")
                      ->type_name("N")
                      ->check(is_positive());
  auto* capacity =
      add_nonempty(command, "--capacity", words.capacity,
                   "How many permits the lock has; all users of the name must give the same number")
          ->type_name("M")
          ->check(is_positive());
  permits->needs(capacity);
  shared->excludes(exclusive)->excludes(capacity);
  exclusive->excludes(capacity);
  command.add_option("--data", words.data, "A text that others see beside the hold, such as \"deploy 4711\"")
      ->type_name("TEXT");
}

std::string who_keeps(const context& global, const client& db, const std::string& name) {
  if (global.quiet) return {};
  try {
    const auto lock = admin{db}.show(name);
    if (const auto holders = holders_text(lock); !holders.empty()) return "; held by " + holders;
    if (lock && lock->waiters > 0) return fmt::format("; {} waiting", lock->waiters);
    return {};
  } catch (const error&) {
    return {};  // the report only explains the wait
  }
}

wait_report::wait_report(const context& global, client db, std::string name)
    : global_{global}, db_{std::move(db)}, name_{std::move(name)} {
  if (global_.quiet) return;
  try {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  } catch (const std::system_error& failure) {
    global_.detail(fmt::format("cannot report on the wait: {}", failure.what()));
  }
}

void wait_report::run(const std::stop_token& stop) const {
  for (auto due = next_report(0s);; due = next_report(due)) {
    pause_until(began_ + due, stop);
    if (stop.stop_requested()) return;
    const auto keeper = who_keeps(global_, db_, name_);
    if (stop.stop_requested()) return;
    global_.note(fmt::format("waiting for '{}', for {} so far{}", name_, rough(waited()), keeper));
  }
}

std::chrono::milliseconds wait_report::waited() const {
  return std::chrono::floor<std::chrono::milliseconds>(clock::now() - began_);
}

void wait_report::tell_end(fencing_token token) const {
  if (token == fencing_token{}) {
    global_.detail(fmt::format("gave up '{}' after {}", name_, rough(waited())));
  } else {
    global_.detail(
        fmt::format("acquired '{}' with token {} after {}", name_, token.value(), rough(waited())));
  }
}

}  // namespace rowlock::cli
