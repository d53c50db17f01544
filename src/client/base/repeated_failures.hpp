// Chooses which failures to log: each text at once, and then at growing intervals.
#pragma once

#include "client/base/time_source.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace rowlock::client_layer {

// Used by one thread at a time.
class repeated_failures {
 public:
  // Empty: do not log this one. Otherwise log it; the number says how many with that text were left out since
  // the last line.
  std::optional<std::uint64_t> due(const std::string& text, instant now) {
    if (seen_.size() >= most && !seen_.contains(text)) seen_.clear();
    auto& known = seen_[text];
    if (now < known.next) {
      ++known.left_out;
      return {};
    }
    // After a long quiet time the text counts as new.
    if (now > known.next + longest) known.interval = first;
    known.next = now + known.interval;
    known.interval = std::min(known.interval * 2, longest);
    return std::exchange(known.left_out, 0);
  }

 private:
  static constexpr std::chrono::nanoseconds first = std::chrono::seconds{1};
  static constexpr std::chrono::nanoseconds longest = std::chrono::minutes{1};
  static constexpr std::size_t most = 100;

  struct entry {
    instant next{};
    std::chrono::nanoseconds interval = first;
    std::uint64_t left_out = 0;
  };
  std::map<std::string, entry> seen_;
};

}  // namespace rowlock::client_layer
