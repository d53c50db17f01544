#include "store/postgres/postgres_conninfo.hpp"

#include "store/url.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::store {

namespace {

using options_ptr = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

// Hides the quoted parts of libpq's message: libpq quotes what it could not read, which may be part of the password.
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

// A raw '@' or '/' ends a password too early; the rest would be taken for the host and be printed.
void check_authority(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return;
  const auto before_query = url.substr(0, url.find('?'));
  const auto path = before_query.find('/', scheme + 3);
  const auto last_at = before_query.rfind('@');
  const bool at_in_path =
      path != std::string_view::npos && last_at != std::string_view::npos && last_at > path;
  if (std::count(before_query.begin(), before_query.end(), '@') > 1 || at_in_path) {
    throw error(
        errc::invalid_argument,
        "the PostgreSQL URL has an '@' or a '/' too many before its parameters; write those inside the "
        "user's name or password as %40 and %2F, and ':' as %3A");
  }
}

// Throws an error that names the unknown parameter of a URL that libpq cannot read, if it has one. libpq's
// own message may quote a secret.
void check_parameters(std::string_view url) {
  const auto question = url.find('?');
  const options_ptr all{PQconninfoParse("", nullptr), &PQconninfoFree};
  if (question == std::string_view::npos || !all) return;
  std::vector<std::string> known{"ssl", "pooled"};  // libpq takes ssl=true, as others spell sslmode=require
  for (auto* option = all.get(); option->keyword; ++option) known.emplace_back(option->keyword);
  const auto unknown = find_unknown_parameter(url.substr(question + 1), known);
  if (!unknown || unknown->name.empty()) return;
  throw error(errc::invalid_argument,
              fmt::format("the PostgreSQL URL has a parameter{} that libpq does not know{}",
                          unknown->quoted_name(), unknown->advice));
}

std::map<std::string, std::string> parse(const std::string& url) {
  char* complaint = nullptr;
  const options_ptr parsed{PQconninfoParse(url.c_str(), &complaint), &PQconninfoFree};
  const std::unique_ptr<char, decltype(&PQfreemem)> owned{complaint, &PQfreemem};
  if (!parsed) {
    check_parameters(url);
    const auto said = complaint ? without_quoted(complaint) : "out of memory";
    const bool has_raw_percent = said.find("percent-encoded") != std::string::npos;
    throw error(errc::invalid_argument,
                fmt::format("libpq cannot read the PostgreSQL URL: {}; {}expected "
                            "postgresql://user:password@host:port/database?parameters",
                            said, has_raw_percent ? "write % itself as %25; " : ""));
  }
  std::map<std::string, std::string> values;
  for (auto* option = parsed.get(); option->keyword; ++option) {
    if (option->val) values[option->keyword] = option->val;
  }
  return values;
}

// The parameters that differ from libpq's own defaults, whether they come from the URL, the environment
// (PGHOST and the like) or a service file. Only PQconninfo() tells them, and it needs an attempt to connect.
// libpq ends this attempt at the sslmode, before it looks for a server. The attempt gets a password file that
// does not exist, because libpq may warn of a real one on the standard error.
std::map<std::string, std::string> resolved(const std::string& url) {
  const char* const keys[] = {"dbname", "passfile", "sslmode", nullptr};
  const char* const given[] = {url.c_str(), "/nonexistent", "none of libpq's", nullptr};
  const std::unique_ptr<PGconn, decltype(&PQfinish)> attempt{PQconnectStartParams(keys, given, 1), &PQfinish};
  std::map<std::string, std::string> values;
  if (!attempt) return values;
  const options_ptr all{PQconninfo(attempt.get()), &PQconninfoFree};
  if (!all) return values;
  for (auto* option = all.get(); option->keyword; ++option) {
    const std::string_view usual = option->compiled ? option->compiled : "";
    if (option->val && option->val != usual) values[option->keyword] = option->val;
  }
  return values;
}

// Removes rowlock's own parameter `pooled` from the URL, and returns its value.
std::optional<bool> take_pooled(std::string& url) {
  const auto query = url.find('?');
  if (query == std::string::npos) return {};
  std::optional<bool> pooled;
  std::string rest;
  std::istringstream words{url.substr(query + 1)};
  for (std::string word; std::getline(words, word, '&');) {
    if (word == "pooled" || word == "pooled=on") {
      pooled = true;
    } else if (word == "pooled=off") {
      pooled = false;
    } else if (word.starts_with("pooled=")) {
      throw error(errc::invalid_argument, "the PostgreSQL URL's parameter pooled is neither on nor off");
    } else {
      rest += (rest.empty() ? "?" : "&") + word;
    }
  }
  if (pooled) url = url.substr(0, query) + rest;
  return pooled;
}

// libpq would report a wrong port only when it connects, as if the server could not be reached.
void check_port(std::string_view port) {
  int number = 0;
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() ||
      (failure == std::errc{} && end == port.data() + port.size() && number > 0 && number < 65536))
    return;
  throw error(errc::invalid_argument,
              "the port of the PostgreSQL server (in the URL, PGPORT or the service file) is not a number "
              "from 1 to 65535");
}

}  // namespace

postgres_conninfo::postgres_conninfo(const std::string& url, const store_options& options,
                                     std::chrono::milliseconds at_most)
    : connect_timeout_{options.connect_timeout} {
  check_authority(url);
  auto of_libpq = url;
  pooled_ = take_pooled(of_libpq);
  values_ = parse(of_libpq);
  const auto known = resolved(of_libpq);
  for (const char* place : {"host", "hostaddr", "port", "connect_timeout"}) {
    if (const auto found = known.find(place); found != known.end()) values_.insert(*found);
  }
  for (const char* secret : {"password", "sslpassword"}) {
    if (const auto found = known.find(secret); found != known.end()) {
      secrets_.push_back(found->second);
    }
  }
  if (const auto given = values_.find("connect_timeout"); given != values_.end()) {
    const auto seconds = std::strtol(given->second.c_str(), nullptr, 10);
    if (seconds > 0) connect_timeout_ = std::chrono::seconds{std::min(seconds, 86'400L)};
  }

  // A pooler honours this parameter, too, and it overrides the setting of a role.
  values_["client_encoding"] = "UTF8";
  connect_timeout_ = std::min(connect_timeout_, at_most);

  const auto unless_given = [&](const char* key, const std::string& value) {
    if (!known.contains(key)) values_.try_emplace(key, value);
  };
  for (const auto& server : servers()) check_port(server.port);
  const auto limit = options.statement_timeout;
  unless_given("keepalives_idle", std::to_string(whole_seconds(limit)));
  unless_given("keepalives_interval", std::to_string(whole_seconds(limit / 4)));
  unless_given("keepalives_count", "3");
  unless_given("tcp_user_timeout", std::to_string(limit.count()));
  // If there are several servers, only the primary is useful, except to a read-only client.
  if (servers().size() > 1 && !options.read_only) unless_given("target_session_attrs", "read-write");
}

std::string postgres_conninfo::text() const {
  std::string result;
  for (const auto& [key, value] : values_) result += fmt::format("{}={} ", key, quoted_value(value));
  return result;
}

std::string postgres_conninfo::text(const postgres_server& server) const {
  auto one = *this;
  const auto set = [&](const char* key, const std::string& value) {
    if (value.empty()) {
      one.values_.erase(key);
    } else {
      one.values_[key] = value;
    }
  };
  set("host", server.host);
  set("hostaddr", server.address);
  set("port", server.port);
  return one.text();
}

std::vector<postgres_server> postgres_conninfo::servers() const {
  const auto listed = [&](const char* key) {
    std::vector<std::string> parts;
    const auto found = values_.find(key);
    if (found == values_.end()) return parts;
    std::istringstream list{found->second + ','};
    for (std::string part; std::getline(list, part, ',');) parts.push_back(part);
    return parts;
  };
  const auto hosts = listed("host");
  const auto addresses = listed("hostaddr");
  const auto ports = listed("port");
  // A single port applies to all servers.
  const auto of = [](const std::vector<std::string>& parts, std::size_t i) {
    return i < parts.size() ? parts[i] : parts.size() == 1 ? parts[0] : std::string{};
  };
  std::vector<postgres_server> result(std::max<std::size_t>({1, hosts.size(), addresses.size()}));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = {i < hosts.size() ? hosts[i] : "", i < addresses.size() ? addresses[i] : "", of(ports, i)};
  }
  return result;
}

std::string postgres_conninfo::scrub(std::string message) const {
  for (const auto& secret : secrets_) message = hide_secret(std::move(message), secret);
  return message;
}

}  // namespace rowlock::store
