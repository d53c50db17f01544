// Checks a caller's options together.
#pragma once

#include <rowlock/options.hpp>

#include <algorithm>
#include <chrono>

namespace rowlock::client_layer {

// The options as they will be used. Throws error(invalid_argument) with the values that are wrong or
// contradict each other.
options checked_settings(options settings);

inline std::chrono::milliseconds renew_interval(const options& settings) {
  return settings.renew_interval.value_or(settings.ttl / 3);
}

// How much longer than the server's own timeout the client waits for an answer. It distinguishes a slow
// statement from a broken connection.
inline std::chrono::milliseconds answer_grace(const options& settings) {
  return std::min(std::chrono::milliseconds{250}, settings.ttl / 20);
}

}  // namespace rowlock::client_layer
