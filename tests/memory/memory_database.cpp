#include "memory/memory_database.hpp"

#include "memory/memory_session.hpp"

#include <utility>

namespace rowlock::store {

memory_database::memory_database(std::shared_ptr<memory_server> server) : server_(std::move(server)) {}

bool memory_database::must_poll() const noexcept {
  const std::lock_guard lock{server_->mutex_};
  return !server_->tells_;
}

std::unique_ptr<session> memory_database::connect(connect_watch& watch) {
  memory_call call{.server = *server_, .verb = "connect"};
  const connect_watch::step step{watch, [&] { call.break_off(); }};
  server_->call_hook(call);
  auto result = std::make_unique<memory_session>(server_);
  call.at = memory_call::phase::after;
  server_->call_hook(call);
  return result;
}

}  // namespace rowlock::store
