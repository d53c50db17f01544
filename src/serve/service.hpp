// `rowlock serve`: the HTTP server and its parts, put together.
#pragma once

#include "serve/connection.hpp"
#include "serve/dispatcher.hpp"
#include "serve/limited_call.hpp"
#include "serve/listen_address.hpp"
#include "serve/upkeep.hpp"

#include <rowlock/doctor.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::serve {

struct service_settings {
  listen_address listen{};
  http_limits limits{};
  access_rules access{};
  std::chrono::milliseconds drain = std::chrono::seconds{10};
  upkeep_settings upkeep{};
  std::chrono::milliseconds metrics_every = std::chrono::seconds{15};  // 0: no metrics
  std::vector<std::string> metrics_names{};                            // patterns
  bool has_dashboard = true;

  // Whether it may change the database: for its upkeep, or for a client with a token that may lock.
  bool writes() const noexcept {
    return upkeep.is_on() || (access.known_tokens && access.known_tokens->anybody_has(role::lock));
  }
};

// What the service takes from its caller.
struct service_environment {
  std::function<client()> connect;
  limited_call<int> schema_version;
  limited_call<std::vector<finding>> diagnose;
  // Returns when the service is to end. Signals are the caller's.
  std::function<void()> wait_for_end;
  std::function<void(std::string_view)> note;  // a line for people
};

// Serves until wait_for_end() returns, then drains. A database that cannot be reached is waited for. Throws error:
// unreachable if it cannot listen, invalid_argument for settings that contradict each other.
void serve(const service_settings& settings, const service_environment& environment);

}  // namespace rowlock::serve
