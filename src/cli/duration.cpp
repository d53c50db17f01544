#include "cli/duration.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>

namespace rowlock::cli {

namespace {

using std::chrono::milliseconds;

struct unit {
  std::string_view suffix;
  std::int64_t milliseconds;
};

constexpr std::array<unit, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

// Ten years; the library refuses longer waits too.
constexpr std::int64_t longest = 3'652 * units[0].milliseconds;

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view why) {
  throw error(
      errc::invalid_argument,
      fmt::format("{} '{}' {}; write a whole number and a unit: 500ms, 30s, 1m, 2h or 1d", what, text, why));
}

}  // namespace

milliseconds parse_duration(std::string_view what, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::result_out_of_range) refuse(what, text, "is too long");
  if (failure != std::errc{}) refuse(what, text, "is not a duration");
  if (number < 0) refuse(what, text, "is negative");

  const auto suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  if (suffix.empty()) {
    if (number == 0) return milliseconds{0};
    refuse(what, text, "has no unit");
  }
  for (const auto& [name, factor] : units) {
    if (suffix != name) continue;
    if (number > longest / factor) refuse(what, text, "is longer than ten years");
    return milliseconds{number * factor};
  }
  refuse(what, text, "has an unknown unit");
}

std::string format_duration(milliseconds value) {
  const std::string_view sign = value.count() < 0 ? "-" : "";
  const auto amount = std::abs(value.count());
  for (const auto& [suffix, factor] : units) {
    if (amount < factor || factor == 1) continue;
    const auto tenths = amount * 10 / factor;
    if (tenths % 10 == 0) return fmt::format("{}{}{}", sign, tenths / 10, suffix);
    return fmt::format("{}{}.{}{}", sign, tenths / 10, tenths % 10, suffix);
  }
  return fmt::format("{}{}ms", sign, amount);
}

}  // namespace rowlock::cli
