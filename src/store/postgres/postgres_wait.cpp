// Wake-ups, and ghosts.
#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_session.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

timespec timespec_of(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

}  // namespace

void postgres_session::listen(lease_id client) {
  if (listener_) return listener_->listen(channel_of(client));
  if (!is_pooled()) connection_.listen(channel_of(client));
}

void postgres_session::send_wakeups(std::span<const wakeup> told) {
  postgres_array channels;
  postgres_array payloads;
  for (const auto& one : told) {
    channels.add_word(channel_of(one.client));
    payloads.add_text(one.granted.is_nil() ? "" : one.granted.to_string());
  }
  if (!channels.empty()) connection_.call("notify", channels.str(), payloads.str());
}

// A payload that is no id, or empty as an earlier version's, says nothing of who was granted.
bool postgres_session::hear() {
  granted_.clear();
  const auto payloads = listener_ ? listener_->take_heard() : connection_.take_heard();
  try {
    for (const auto& payload : payloads) granted_.push_back(hold_id::parse(payload));
  } catch (const error&) {
    granted_.clear();
  }
  return !payloads.empty();
}

// What came during another verb is in memory, where poll() does not see it. True: something may have come.
bool postgres_session::drain() {
  connection_.drain();
  const bool missed = listener_ && listener_->drain();
  const bool heard = hear();
  if (missed) granted_.clear();  // it may be more than who was named
  return heard || missed;
}

bool postgres_session::wait(std::chrono::nanoseconds timeout) {
  const auto deadline = clock::now() + std::clamp<std::chrono::nanoseconds>(timeout, 0ns, 24h);
  for (;;) {
    if (drain()) return true;

    // poll() passes over a socket that there is not.
    pollfd fds[] = {{connection_.socket(), POLLIN, 0},
                    {waker_.get(), POLLIN, 0},
                    {listener_ ? listener_->socket() : -1, POLLIN, 0}};
    const auto until = listener_ ? std::min(deadline, listener_->retry_at()) : deadline;
    const auto left = timespec_of(std::max<std::chrono::nanoseconds>(until - clock::now(), 0ns));
    const int ready = ::ppoll(fds, std::size(fds), &left, nullptr);
    if (ready < 0 && errno != EINTR) throw error(errc::internal, "poll() refused the connection's socket");
    if (ready <= 0) {
      if (clock::now() >= deadline) return false;
      continue;
    }
    if (fds[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(waker_.get(), &count, sizeof count);
      return drain();
    }
  }
}

void postgres_session::end_wait() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(waker_.get(), &one, sizeof one);
}

void postgres_session::interrupt() noexcept {
  connection_.interrupt();
  if (listener_) listener_->interrupt();
}

bool postgres_session::end_ghost(const std::string& backend) {
  // The pooler gives up its backend with the client's connection, and the backend's own limits end what it
  // does then. By now it may serve a stranger.
  if (backend == pooled_backend) return false;
  const auto space = backend.find(' ');
  if (space == std::string::npos) {
    throw error(errc::invalid_argument, fmt::format("\"{}\" names no PostgreSQL backend", backend));
  }
  const auto pid = backend.substr(0, space);
  const auto started = backend.substr(space + 1);
  // A backend leaves pg_stat_activity after its transaction has ended, mostly at once. One that does not
  // react is left to the caller.
  const auto deadline = clock::now() + std::min<clock::duration>(250ms, context_->options.statement_timeout);
  for (auto pause = 1ms;; pause = std::min(pause * 2, 50ms)) {
    try {
      if (connection_.call("end_backend", pid, started).empty()) return true;
    } catch (const error& refused) {
      if (refused.code() == errc::privilege) return false;
      throw;
    }
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace rowlock::store
