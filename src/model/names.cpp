#include "model/names.hpp"

#include "model/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::model {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void refuse(const std::string& message) {
  throw error(errc::invalid_argument, message);
}

}  // namespace

void check_name(std::string_view name) {
  if (name.empty()) refuse("a lock's name is empty; give 1 to 512 bytes of UTF-8");
  if (name.size() > 512) {
    refuse(fmt::format("a lock's name has {} bytes; at most 512 are allowed", name.size()));
  }
  for (std::size_t at = 0; at < name.size();) {
    const auto [code, length] = first_character(name.substr(at));
    if (length == 0) refuse(fmt::format("a lock's name is not UTF-8: byte {} starts no character", at));
    if (is_control(code)) {
      refuse(fmt::format("a lock's name has a control character at byte {}; none are allowed", at));
    }
    at += length;
  }
}

void check_value(std::string_view value) {
  if (value.size() > 4096) {
    refuse(fmt::format("a value has {} bytes; at most 4096 are allowed", value.size()));
  }
  for (std::size_t at = 0; at < value.size();) {
    const auto length = first_character(value.substr(at)).length;
    if (length == 0) refuse(fmt::format("a value is not UTF-8: byte {} starts no character", at));
    if (value[at] == '\0') refuse(fmt::format("a value has a NUL at byte {}; none are allowed", at));
    at += length;
  }
}

void check_application(std::string_view application) {
  if (application.size() > 255) {
    refuse(fmt::format("an application has {} bytes; at most 255 are allowed", application.size()));
  }
  if (printable(application) != application) {
    refuse("the application is not UTF-8, or has a control character; it is shown to operators");
  }
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (length > 0 && !is_control(code)) result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

void check_identifier(std::string_view what, std::string_view value) {
  const auto ok = [](char c, bool first) {
    return (c >= 'a' && c <= 'z') || c == '_' || (!first && c >= '0' && c <= '9');
  };
  bool good = !value.empty() && value.size() <= 31;
  for (std::size_t i = 0; good && i < value.size(); ++i) good = ok(value[i], i == 0);
  if (!good) {
    // The message does not repeat the value, which may contain a secret or unprintable text.
    refuse(
        fmt::format("the {} does not match [a-z_][a-z0-9_]{{0,30}}; it becomes part of table names", what));
  }
  // Reserved words of MySQL: release, unlock.
  if (what == "prefix" && (value == "re" || value == "un")) {
    refuse(
        fmt::format("with the prefix {0} a table's name would be a reserved word of SQL; use {0}_", value));
  }
}

void check_ttl(std::chrono::milliseconds ttl, std::chrono::milliseconds renew_interval) {
  if (ttl < 1s || ttl > 24h) {
    refuse(fmt::format("a ttl of {} ms is outside 1,000 ms (1 second) to 86,400,000 ms (24 hours)",
                       ttl.count()));
  }
  if (renew_interval <= 0ms || renew_interval > ttl / 2) {
    refuse(fmt::format(
        "a renewal every {} ms cannot keep a ttl of {} ms: the interval must be above 0 and at most half "
        "of the ttl, so that one failed renewal is survived",
        renew_interval.count(), ttl.count()));
  }
}

void check_explicit_ttl(std::chrono::milliseconds ttl) {
  if (ttl < 100ms || ttl > 24h) {
    refuse(
        fmt::format("an explicit ttl of {} ms is outside 100 ms to 86,400,000 ms (24 hours)", ttl.count()));
  }
}

void check_hold_times(std::optional<std::chrono::milliseconds> explicit_ttl,
                      std::chrono::milliseconds min_hold) {
  if (explicit_ttl) check_explicit_ttl(*explicit_ttl);
  if (min_hold < 0ms || min_hold > 24h) {
    refuse(fmt::format("a minimum hold of {} ms is outside 0 to 86,400,000 ms (24 hours)", min_hold.count()));
  }
  if (explicit_ttl && min_hold > *explicit_ttl) {
    refuse(fmt::format("a minimum hold of {} ms does not fit into an explicit ttl of {} ms", min_hold.count(),
                       explicit_ttl->count()));
  }
}

void check_request_time(std::chrono::milliseconds within) {
  if (within < 0ms || within > 24h) {
    refuse(fmt::format("a wait of {} ms for a lock's holders is outside 0 to 86,400,000 ms (24 hours)",
                       within.count()));
  }
}

void check_delay(std::chrono::milliseconds delay) {
  if (delay < 0ms || delay > 24h) {
    refuse(fmt::format("a lock delay of {} ms is outside 0 to 86,400,000 ms (24 hours)", delay.count()));
  }
}

}  // namespace rowlock::model
