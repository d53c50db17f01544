#include "cli/lock_words.hpp"

#include "cli/duration.hpp"

#include <rowlock/counting_semaphore.hpp>
#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>

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

void add_name_and_wait(command_syntax command, lock_words& words) {
  command.add("NAME", words.name, "The lock's name").required();
  auto wait = command.add("-w,--wait", words.wait, "Give up after this time, such as 30s; 0: do not wait")
                  .value_name("DURATION");
  command.add_flag("-n,--no-wait", words.no_wait, "The same as --wait 0").excludes(wait);
  command.add("-E,--conflict-exit-code", words.busy_code, "Exit code for busy, instead of 75")
      .value_name("CODE")
      .between(0, 255);
  command
      .add("--delay", words.delay,
           "How long the lock rests after its holder was lost (default 0); stored with the name")
      .value_name("DURATION");
  command.add_flag("--unfair", words.unfair,
                   "Grant the free lock to any request, even before the waiters; stored with the name");
}

void add_kind_and_data(command_syntax command, lock_words& words) {
  auto shared =
      command.add_flag("-s,--shared", words.shared,
                       "Take the lock as a reader: together with other readers, but not with a writer");
  auto exclusive = command.add_flag("-x,--exclusive", words.exclusive,
                                    "Take the lock as a writer: alone; readers of this name use --shared");
  auto permits = command.add("--permits", words.permits, "How many permits to take (default 1)")
                     .value_name("N")
                     .positive();
  auto capacity = command
                      .add("--capacity", words.capacity,
                           "How many permits the lock has; all users of the name must give the same number")
                      .value_name("M")
                      .positive();
  permits.needs(capacity);
  shared.excludes(exclusive).excludes(capacity);
  exclusive.excludes(capacity);
  command.add("--data", words.data, "A text that others see beside the hold, such as \"deploy 4711\"")
      .value_name("TEXT")
      .may_be_empty();
}

}  // namespace rowlock::cli
