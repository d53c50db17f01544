#include "serve/acquire_body.hpp"

#include "serve/http.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace rowlock::serve {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t shortest_ttl_ms = 100;
constexpr std::int64_t day_ms = 24 * 60 * 60 * 1000;
constexpr std::int64_t most_permits = 1'000'000'000;
// The most bytes that a client's text may have as JSON. A hold's data may have 4096 bytes, and the client's name, the
// id and the text of hold::transfer stand there, too; they take about a thousand.
constexpr std::size_t most_data_bytes = 1024;

constexpr std::array<std::pair<std::string_view, acquire_body::kind>, 4> kinds{
    {{"mutex", acquire_body::kind::mutex},
     {"read", acquire_body::kind::read},
     {"write", acquire_body::kind::write},
     {"permits", acquire_body::kind::permits}}};

void check_members(const nlohmann::json& body) {
  static constexpr std::array<std::string_view, 8> known{"ttl_ms",   "wait_ms",  "mode", "permits",
                                                         "capacity", "delay_ms", "fair", "data"};
  for (const auto& [name, _] : body.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw error(errc::invalid_argument,
                fmt::format("the body may not have \"{}\"; it may have {}", name, fmt::join(known, ", ")));
  }
}

acquire_body::kind kind_of(const nlohmann::json& body) {
  const auto found = body.find("mode");
  if (found == body.end()) return acquire_body::kind::mutex;
  for (const auto& [word, kind] : kinds) {
    if (*found == word) return kind;
  }
  throw error(errc::invalid_argument, "\"mode\" is mutex, read, write or permits");
}

std::int64_t number_or(const nlohmann::json& body, const char* name, std::int64_t otherwise,
                       std::int64_t least, std::int64_t most) {
  return body.contains(name) ? whole_number(body, name, least, most) : otherwise;
}

}  // namespace

acquire_body acquire_body::parse(const nlohmann::json& body) {
  check_members(body);
  acquire_body result{.what = kind_of(body)};
  result.ttl = milliseconds{whole_number(body, "ttl_ms", shortest_ttl_ms, day_ms)};
  result.wait = milliseconds{number_or(body, "wait_ms", 0, 0, day_ms)};
  result.delay = milliseconds{number_or(body, "delay_ms", 0, 0, day_ms)};
  if (result.what == kind::permits) {
    result.capacity = whole_number(body, "capacity", 1, most_permits);
    result.permits = number_or(body, "permits", 1, 1, result.capacity);
  } else if (body.contains("capacity") || body.contains("permits")) {
    throw error(errc::invalid_argument, "only the mode permits has \"capacity\" and \"permits\"");
  }
  if (const auto fair = body.find("fair"); fair != body.end()) {
    if (!fair->is_boolean()) throw error(errc::invalid_argument, "\"fair\" is true or false");
    result.fair = fair->get<bool>();
  }
  if (const auto data = body.find("data"); data != body.end()) {
    if (!data->is_string() || data->dump().size() > most_data_bytes + 2) {
      throw error(errc::invalid_argument,
                  fmt::format("\"data\" is a text of at most {} bytes as JSON", most_data_bytes));
    }
    result.data = data->get<std::string>();
  }
  return result;
}

nlohmann::ordered_json acquire_body::to_json() const {
  const auto* const mode = std::ranges::find(kinds, what, [](const auto& one) { return one.second; });
  nlohmann::ordered_json shown{{"ttl_ms", ttl.count()}, {"mode", mode->first}};
  if (what == kind::permits) {
    shown["capacity"] = capacity;
    shown["permits"] = permits;
  }
  if (delay.count() != 0) shown["delay_ms"] = delay.count();
  if (!fair) shown["fair"] = false;
  if (!data.empty()) shown["data"] = data;
  return shown;
}

}  // namespace rowlock::serve
