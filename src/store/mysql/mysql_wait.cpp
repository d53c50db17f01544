// Wake-ups, and ghosts.
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::string_view unknown_thread = "1094";
constexpr std::string_view others_thread = "1095";  // it is another user's, and this user may not end it

// A connection, as backend() writes it.
struct ghost {
  std::int64_t connection = 0;
  std::int64_t up_since = 0;
  std::string peer;
  std::string node;
};

ghost parse_ghost(const std::string& backend) {
  ghost result;
  const auto* end = backend.data() + backend.size();
  const auto first = std::from_chars(backend.data(), end, result.connection);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == ' ') {
    const auto second = std::from_chars(first.ptr + 1, end, result.up_since);
    if (second.ec == std::errc{} && second.ptr != end && *second.ptr == ' ') {
      const std::string rest{second.ptr + 1, end};
      if (const auto space = rest.find(' '); space != std::string::npos) {
        result.peer = rest.substr(0, space);
        result.node = rest.substr(space + 1);
        return result;
      }
    }
  }
  throw error(errc::invalid_argument, fmt::format("\"{}\" names no MySQL connection", backend));
}

}  // namespace

std::int64_t mysql_session::read_hints() {
  if (listened_.empty()) return 0;
  mysql_rows marks;
  if (listened_.size() == 1) {
    marks = connection_.read("poll_wakeups_one", {{"lease", listened_[0]}});
  } else {
    mysql_json leases;
    for (const auto& lease : listened_) leases.add(lease);
    marks = connection_.read("poll_wakeups", {{"leases", leases}});
  }
  return marks.next() ? marks.integer(0) : 0;
}

void mysql_session::listen(lease_id client) {
  if (std::find(listened_.begin(), listened_.end(), client) == listened_.end()) listened_.push_back(client);
  hints_ = read_hints();
}

void mysql_session::send_wakeups(std::span<const wakeup> told) {
  mysql_json woken;
  for (const auto& client : clients_of(told)) woken.add(client);
  if (!woken.empty()) connection_.write("send_wakeups", {{"woken", woken}});
}

wakeup_poll mysql_session::poll_wakeups() {
  const auto now = read_hints();
  return std::exchange(hints_, now) != now ? wakeup_poll::some : wakeup_poll::none;
}

bool mysql_session::wait(std::chrono::nanoseconds timeout) {
  const auto deadline = clock::now() + std::clamp<std::chrono::nanoseconds>(timeout, 0ns, 24h);
  for (;;) {
    if (interrupted_) {
      throw error(errc::unreachable, "wait: the connection to MySQL was interrupted", {}, true);
    }
    pollfd source = waker_.source();
    if (!poll_until({&source, 1}, deadline)) return false;
    waker_.clear();
    if (!interrupted_) return false;
  }
}

void mysql_session::end_wait() noexcept {
  waker_.end_wait();
}

void mysql_session::interrupt() noexcept {
  interrupted_ = true;
  connection_.interrupt();
  end_wait();
}

// A server counts its connections from its start, so the number and the time of that start together identify
// a connection. There is one exception: a server that was started twice within a second, or twice at the same
// time because its clock was set back. Then the port of our end, or the process behind the Unix socket,
// distinguishes another client's connection from ours.
std::string mysql_session::backend() const {
  return fmt::format("{} {} {} {}", facts_.connection, facts_.up_since, facts_.peer, facts_.node);
}

bool mysql_session::end_ghost(const std::string& backend) {
  const auto asked = parse_ghost(backend);
  // Another node of the cluster cannot be seen from here. The caller waits until the statement must have ended.
  if (asked.node != facts_.node) return false;
  // If the server was restarted since, the ghost has ended. If the ghost's server seems to have been started
  // later than this one, a clock was set back, and nothing is certain.
  if (asked.up_since != facts_.up_since) return asked.up_since < facts_.up_since;
  const bool local = asked.peer.starts_with("localhost/");
  if (local && asked.peer != facts_.peer) return false;
  const mysql_value id{"id", asked.connection};
  const auto deadline = clock::now() + std::min<clock::duration>(1s, context_->options.statement_timeout);
  // A connection leaves the server's list after its transaction has ended. If it does not leave in time, the
  // caller must wait.
  for (auto pause = 1ms;; pause = std::min(pause * 2, 50ms)) {
    auto found = connection_.read("end_ghost_find", {id});
    if (found.next() && found.text(0) != (local ? "localhost" : asked.peer)) return true;
    // Another user's connection may not be listed; then only KILL's error shows that it is gone.
    try {
      connection_.write("end_ghost", {id});
    } catch (const error& refused) {
      if (refused.database_code() == unknown_thread) return true;
      if (refused.database_code() == others_thread) return false;
      throw;
    }
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace rowlock::store
