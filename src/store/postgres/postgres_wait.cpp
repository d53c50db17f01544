// Wake-ups, and ghosts.
#include "store/postgres/postgres_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

}  // namespace

void postgres_session::listen(lease_id client) {
  if (listener_) return listener_->listen(channel_of(client));
  if (!is_pooled()) connection_.listen(channel_of(client));
}

void postgres_session::send_wakeups(std::span<const wakeup> told) {
  postgres_batch<2> messages;
  for (const auto& one : told) {
    messages.add(channel_of(one.client), one.granted.is_nil() ? std::string{} : one.granted.to_string());
  }
  if (!messages.empty()) connection_.call("send_wakeups", messages);
}

// Takes the payloads. One that is no id, such as an empty one, does not name the waiter that was granted
// (earlier versions sent only empty ones); then granted_ stays empty. Returns false if nothing has arrived.
bool postgres_session::receive() {
  granted_.clear();
  const auto payloads = listener_ ? listener_->take_heard() : connection_.take_heard();
  try {
    for (const auto& payload : payloads) granted_.push_back(hold_id::parse(payload));
  } catch (const error&) {
    granted_.clear();
  }
  return !payloads.empty();
}

// Takes what has arrived: a notification that arrived during another verb is in memory, where poll() does not
// see it. Returns true if something may have arrived.
bool postgres_session::drain() {
  connection_.drain();
  const bool missed = listener_ && listener_->drain();
  const bool heard = receive();
  if (missed) granted_.clear();  // others may have been granted too
  return heard || missed;
}

bool postgres_session::wait(std::chrono::nanoseconds timeout) {
  const auto deadline = clock::now() + std::clamp<std::chrono::nanoseconds>(timeout, 0ns, 24h);
  for (;;) {
    if (drain()) return true;
    pollfd sources[] = {waker_.source(),
                        {connection_.socket(), POLLIN, 0},
                        {listener_ ? listener_->socket() : -1, POLLIN, 0}};
    const auto until = listener_ ? std::min(deadline, listener_->retry_at()) : deadline;
    if (!poll_until(sources, until) && clock::now() >= deadline) return false;
    if (sources[0].revents != 0) {
      waker_.clear();
      return drain();
    }
  }
}

void postgres_session::end_wait() noexcept {
  waker_.end_wait();
}

void postgres_session::interrupt() noexcept {
  connection_.interrupt();
  if (listener_) listener_->interrupt();
}

bool postgres_session::end_ghost(const std::string& backend) {
  // The pooler separates its backend from the client's connection, and the backend's own limits end the
  // statement. By now the backend may serve a stranger.
  if (backend == pooled_backend) return false;
  const auto space = backend.find(' ');
  if (space == std::string::npos) {
    throw error(errc::invalid_argument, fmt::format("\"{}\" names no PostgreSQL backend", backend));
  }
  const auto pid = backend.substr(0, space);
  const auto started = backend.substr(space + 1);
  // A backend leaves pg_stat_activity after its transaction has ended, mostly at once. If it does not react,
  // the caller must wait for it.
  const auto deadline = clock::now() + std::min<clock::duration>(250ms, context_->options.statement_timeout);
  for (auto pause = 1ms;; pause = std::min(pause * 2, 50ms)) {
    try {
      if (connection_.call("end_ghost", pid, started).empty()) return true;
    } catch (const error& refused) {
      if (refused.code() == errc::privilege) return false;
      throw;
    }
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace rowlock::store
