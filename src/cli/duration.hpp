// Durations as they are written on a command line: "500ms", "30s", "1m", "2h", "1d".
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace rowlock::cli {

// A whole number and a unit. "0" needs none; any other number without a unit is refused, for 30 may mean
// seconds or milliseconds. Throws error(invalid_argument); what: the option's name, for the message.
std::chrono::milliseconds parse_duration(std::string_view what, std::string_view text);

// The largest unit that fits, one decimal at most: "850ms", "12.3s", "4m", "2.5h", "3d". Negative: "-3s".
std::string format_duration(std::chrono::milliseconds value);

}  // namespace rowlock::cli
