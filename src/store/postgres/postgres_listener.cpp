#include "store/postgres/postgres_listener.hpp"

#include <fmt/format.h>

#include <utility>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// The pause after a failed attempt to connect, because an attempt blocks the session.
constexpr auto retry_pause = 30s;

}  // namespace

postgres_listener::postgres_listener(const postgres_context& context, std::string place)
    : context_{context}, place_{std::move(place)} {}

void postgres_listener::listen(const std::string& channel) {
  channels_.push_back(channel);
  listen_to(connection_ ? std::vector{channel} : channels_);
}

// Listens on those channels, too. Connects if there is no connection, but not within retry_pause after a
// failed attempt.
void postgres_listener::listen_to(const std::vector<std::string>& channels) {
  if (!connection_ && clock::now() < retry_at_) return;
  try {
    if (!connection_) connection_ = open_listener(context_, place_, watch_);
    const connect_watch::step step{watch_, [&] { connection_->interrupt(); }};
    for (const auto& channel : channels) connection_->listen(channel);
    complaint_.clear();
  } catch (const error& failure) {
    fail(failure);
  }
}

void postgres_listener::fail(const error& why) {
  connection_.reset();
  retry_at_ = clock::now() + retry_pause;
  complaint_ = fmt::format("listen_url receives no wake-ups: {}", why.what());
}

clock::time_point postgres_listener::retry_at() const noexcept {
  return connection_ || channels_.empty() ? clock::time_point::max() : retry_at_;
}

bool postgres_listener::drain() {
  if (!connection_) {
    if (channels_.empty() || clock::now() < retry_at_) return false;
    listen_to(channels_);
    return true;
  }
  try {
    connection_->drain();
    return false;
  } catch (const error& failure) {
    fail(failure);
    return true;
  }
}

std::vector<std::string> postgres_listener::take_heard() noexcept {
  return connection_ ? connection_->take_heard() : std::vector<std::string>{};
}

}  // namespace rowlock::store
