// Durations as people write them: "500ms", "30s", "1m", "2h", "1d".
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace rowlock::cli {

// Reads a whole number and a unit. Only "0" needs no unit, because 30 may mean seconds or milliseconds.
// Throws error(invalid_argument). what: the option's name, for the message.
std::chrono::milliseconds parse_duration(std::string_view what, std::string_view text);

// Writes it in the largest unit that fits, with at most one decimal: "850ms", "12.3s", "4m", "2.5h", "3d".
// Negative: "-3s".
std::string format_duration(std::chrono::milliseconds value);

}  // namespace rowlock::cli
