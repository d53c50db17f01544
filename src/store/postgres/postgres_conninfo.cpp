#include "store/postgres/postgres_conninfo.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

namespace rowlock::store {

namespace {

using options_ptr = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

// libpq quotes what it could not read, and that may be a part of the password.
std::string without_quoted(std::string_view text) {
  std::string result;
  bool inside = false;
  for (const char c : text) {
    if (c == '"') {
      if (!inside) result += "\"...\"";
      inside = !inside;
    } else if (!inside && c != '\n') {
      result += c;
    }
  }
  return result;
}

// A raw '@' in a password ends it too early; its rest would be taken for the host and be printed.
void check_authority(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return;
  const auto before_query = url.substr(0, url.find('?'));
  if (std::count(before_query.begin(), before_query.end(), '@') > 1) {
    throw error(errc::invalid_argument,
                "the PostgreSQL URL has more than one '@' before its parameters; write the one inside the "
                "user's name or password as %40 (and '/' as %2F, ':' as %3A)");
  }
}

std::map<std::string, std::string> parse(const std::string& url) {
  char* complaint = nullptr;
  const options_ptr parsed{PQconninfoParse(url.c_str(), &complaint), &PQconninfoFree};
  const std::unique_ptr<char, decltype(&PQfreemem)> owned{complaint, &PQfreemem};
  if (!parsed) {
    throw error(errc::invalid_argument,
                fmt::format("libpq cannot read the PostgreSQL URL: {}; expected "
                            "postgresql://user:password@host:port/database?parameters",
                            complaint ? without_quoted(complaint) : "out of memory"));
  }
  std::map<std::string, std::string> values;
  for (auto* option = parsed.get(); option->keyword; ++option) {
    if (option->val) values[option->keyword] = option->val;
  }
  return values;
}

std::string quoted(std::string_view value) {
  std::string result = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + '\'';
}

std::int64_t whole_seconds(std::chrono::milliseconds time) {
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace

postgres_conninfo::postgres_conninfo(const std::string& url, const store_options& options) {
  check_authority(url);
  auto values = parse(url);
  for (const char* secret : {"password", "sslpassword"}) {
    if (const auto found = values.find(secret); found != values.end() && !found->second.empty()) {
      secrets_.push_back(found->second);
    }
  }

  const auto unless_given = [&](const char* key, const char* variable, const std::string& value) {
    if (!std::getenv(variable)) values.try_emplace(key, value);
  };
  const auto limit = options.statement_timeout;
  unless_given("connect_timeout", "PGCONNECT_TIMEOUT",
               std::to_string(whole_seconds(options.connect_timeout)));
  unless_given("keepalives_idle", "", std::to_string(whole_seconds(limit)));
  unless_given("keepalives_interval", "", std::to_string(whole_seconds(limit / 4)));
  unless_given("keepalives_count", "", "3");
  unless_given("tcp_user_timeout", "", std::to_string(limit.count()));
  // Of several servers, only the primary is of use.
  const auto several = [&](const char* key) {
    const auto found = values.find(key);
    return found != values.end() && found->second.find(',') != std::string::npos;
  };
  if (several("host") || several("hostaddr")) {
    unless_given("target_session_attrs", "PGTARGETSESSIONATTRS", "read-write");
  }

  for (const auto& [key, value] : values) text_ += fmt::format("{}={} ", key, quoted(value));
}

std::string postgres_conninfo::scrub(std::string message) const {
  for (const auto& secret : secrets_) {
    for (auto at = message.find(secret); at != std::string::npos; at = message.find(secret, at + 3)) {
      message.replace(at, secret.size(), "***");
    }
  }
  return message;
}

}  // namespace rowlock::store
