// Waits for a commit of another connection. The waiter only reads the file.
#include "store/sqlite/sqlite_session.hpp"

#include <time.h>

#include <algorithm>

namespace rowlock::store {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// Limits how often a database that is busy with other things wakes a waiter, so that the caller's reaction
// takes at most a twentieth of a core: checking a thousand waiters is expensive.
constexpr auto between_reports = 1ms;
constexpr auto between_costly_reports = 100ms;
constexpr int share_of_core = 20;
// A commit is visible only after it is on disk. That is later than the write that was noticed, and no further
// write announces it. So after a write the file is polled for half a minute, because a busy disk may take
// seconds. Each interval is half as long again as the one before, so a commit for which the disk took some
// time is found with a further delay of half that time at most.
constexpr auto first_look_for_waiters = 200us;
// A client that only holds something hears of every other client's renewals, and hardly ever of what concerns it.
constexpr auto first_look_for_holders = 500ms;
constexpr auto last_look = 10s;
// How often data_version, which shows whether there was a commit, is read if writes are not noticed. Writes are
// not noticed on a network's file system, nor when the user has no inotify instance left; by default Linux gives
// each user 128 (fs.inotify.max_user_instances).
constexpr auto look_without_watch = 50ms;

std::chrono::nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
}

}  // namespace

std::int64_t sqlite_session::data_version() {
  auto query = connection_.query("data_version");
  query.next();
  return query.integer(0);
}

// Watching the file is enough, because each commit changes it.
void sqlite_session::listen(lease_id) {
  watch_.start();
}

void sqlite_session::send_wakeups(std::span<const wakeup>) {}

bool sqlite_session::wait(std::chrono::nanoseconds timeout) {
  return wait_and_measure(timeout, first_look_for_waiters);
}

bool sqlite_session::wait_holding(std::chrono::nanoseconds timeout) {
  return wait_and_measure(timeout, first_look_for_holders);
}

bool sqlite_session::wait_and_measure(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_look) {
  // Only the time outside of wait() counts as the caller's reaction.
  spent_on_report_ += processor_time() - left_at_processor_time_;
  const bool heard = wait_for_commit(timeout, first_look);
  if (heard) spent_on_report_ = 0ns;
  left_at_processor_time_ = processor_time();
  return heard;
}

// Each write wakes every client that watches the file. So a client that watched without need would make the
// writes of others more expensive.
bool sqlite_session::wait_idle(std::chrono::nanoseconds timeout) {
  connection_.throw_if_interrupted();
  watch_.stop();
  watch_.pause_until(clock::now() + std::clamp<std::chrono::nanoseconds>(timeout, 0ns, 24h));
  connection_.throw_if_interrupted();
  left_at_processor_time_ = processor_time();
  return false;
}

bool sqlite_session::wait_for_commit(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_look) {
  watch_.start();
  auto deadline = clock::now() + std::clamp<std::chrono::nanoseconds>(timeout, 0ns, 24h);
  for (;;) {
    connection_.throw_if_interrupted();
    check_file(false);
    if (data_version() != seen_version_) {
      const std::chrono::nanoseconds cost = share_of_core * spent_on_report_;
      const auto least = std::max<std::chrono::nanoseconds>(between_reports, first_look);
      const auto most = std::max<std::chrono::nanoseconds>(between_costly_reports, first_look);
      const auto allowed = reported_at_ + std::clamp<std::chrono::nanoseconds>(cost, least, most);
      if (clock::now() < allowed) watch_.pause_until(std::min(allowed, deadline));
      seen_version_ = data_version();
      reported_at_ = clock::now();
      return true;
    }
    const auto now = clock::now();
    if (now >= deadline) return false;
    if (!watch_.listens()) next_look_ = std::max<std::chrono::nanoseconds>(look_without_watch, first_look);
    const auto until = next_look_ > last_look ? deadline : std::min(now + next_look_, deadline);
    auto event = watch_.wait_until(until);
    if (event == sqlite_watch::event::written) {
      next_look_ = first_look;
      // Ignores writes for a moment: a large transaction writes thousands of times.
      event = watch_.pause_until(std::min(clock::now() + first_look, deadline));
    } else if (next_look_ <= last_look) {
      next_look_ = next_look_ * 3 / 2;
    }
    // The loop looks once more, and then returns.
    if (event == sqlite_watch::event::woken) deadline = now;
  }
}

void sqlite_session::end_wait() noexcept {
  watch_.end_wait();
}

void sqlite_session::interrupt() noexcept {
  connection_.interrupt();
  watch_.end_wait();
}

}  // namespace rowlock::store
