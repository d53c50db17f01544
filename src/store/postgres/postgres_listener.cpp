#include "store/postgres/postgres_listener.hpp"

#include <fmt/format.h>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// An attempt holds up its session.
constexpr auto retry_pause = 30s;

}  // namespace

postgres_listener::postgres_listener(const postgres_conninfo& conninfo, const sql_catalog& catalog)
    : conninfo_{conninfo}, catalog_{catalog} {}

void postgres_listener::listen(const std::string& channel) {
  channels_.push_back(channel);
  if (!connection_) return connect();
  try {
    const connect_watch::step step{watch_, [&] { connection_->interrupt(); }};
    connection_->listen(channel);
  } catch (const error& failure) {
    fail(failure);
  }
}

void postgres_listener::connect() {
  try {
    connection_ = std::make_unique<postgres_connection>(conninfo_, catalog_, watch_);
    const connect_watch::step step{watch_, [&] { connection_->interrupt(); }};
    if (!connection_->has_own_backend(conninfo_.connect_timeout()))
      throw error(errc::invalid_argument, "it leads to a pooler, too");
    for (const auto& channel : channels_) connection_->listen(channel);
    complaint_.clear();
  } catch (const error& failure) {
    fail(failure);
  }
}

void postgres_listener::fail(const error& why) {
  connection_.reset();
  retry_at_ = clock::now() + retry_pause;
  complaint_ = fmt::format("no wake-ups are heard by listen_url: {}", why.what());
}

clock::time_point postgres_listener::retry_at() const noexcept {
  return connection_ ? clock::time_point::max() : retry_at_;
}

bool postgres_listener::drain() {
  if (!connection_) {
    if (clock::now() < retry_at_) return false;
    connect();
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
