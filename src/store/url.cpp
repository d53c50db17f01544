#include "store/url.hpp"

#include "model/text.hpp"
#include "store/registry.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace rowlock::store {
namespace {

constexpr std::string_view hidden = "***";

[[noreturn]] void refuse(const std::string& message) {
  throw error(errc::invalid_argument, message);
}

// Empty if there is no scheme: the text before the colon may then be anything, even a password.
std::string_view scheme_of(std::string_view url) {
  const auto colon = url.find(':');
  if (colon == std::string_view::npos || colon > 20) return {};
  const auto scheme = url.substr(0, colon);
  const auto ok = [](char c) { return std::islower(static_cast<unsigned char>(c)) || c == '+' || c == '-'; };
  return std::all_of(scheme.begin(), scheme.end(), ok) ? scheme : std::string_view{};
}

// A scheme that other tools use, such as mysql2:, sqlite3:, postgresql+psycopg: or jdbc:postgresql:, and the
// scheme of rowlock's that it stands for.
struct foreign_scheme {
  std::string_view written;
  std::string_view meant;
};

// Empty if the URL begins with no such scheme. A text that may be part of a secret is not taken for a scheme.
std::optional<foreign_scheme> foreign_scheme_of(std::string_view url) {
  constexpr std::string_view jdbc = "jdbc:";
  const bool is_jdbc = url.starts_with(jdbc);
  const auto start = is_jdbc ? jdbc.size() : 0;
  const auto colon = url.find(':', start);
  if (colon == std::string_view::npos || colon > 40) return {};
  const auto scheme = url.substr(start, colon - start);
  const auto ends_as_a_driver = [](std::string_view rest) {
    if (rest.starts_with('+')) rest.remove_prefix(1);
    return std::all_of(rest.begin(), rest.end(),
                       [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
  };
  for (const std::string_view known : {"postgresql", "postgres", "mysql", "mariadb", "sqlite"}) {
    if (!scheme.starts_with(known) || (scheme == known && !is_jdbc)) continue;
    const auto rest = scheme.substr(known.size());
    const bool is_driver =
        rest.empty() || rest[0] == '+' || std::isdigit(static_cast<unsigned char>(rest[0]));
    if (is_driver && ends_as_a_driver(rest)) return foreign_scheme{url.substr(0, colon + 1), known};
  }
  return {};
}

// Whether a host in the URL is an IPv6 address without brackets. Its last part would be taken for the port.
bool has_bare_ipv6(std::string_view url) {
  auto hosts = url.substr(url.find("://") + 3);
  hosts = hosts.substr(0, hosts.find_first_of("/?#"));
  if (const auto at = hosts.rfind('@'); at != std::string_view::npos) hosts.remove_prefix(at + 1);
  while (!hosts.empty()) {
    const auto host = hosts.substr(0, hosts.find(','));
    hosts.remove_prefix(std::min(host.size() + 1, hosts.size()));
    const auto fits = [](unsigned char c) { return std::isxdigit(c) || c == ':' || c == '.'; };
    if (std::count(host.begin(), host.end(), ':') > 1 && std::all_of(host.begin(), host.end(), fits))
      return true;
  }
  return false;
}

void check_server_url(std::string_view url, std::string_view scheme) {
  if (!url.substr(scheme.size()).starts_with("://")) {
    refuse(fmt::format("a {0}: URL needs two slashes; write {0}://user@host/database", scheme));
  }
  if (has_bare_ipv6(url)) {
    refuse("an IPv6 address in a URL stands in brackets; write [::1], or [::1]:PORT");
  }
}

std::string known_forms() {
  return fmt::format(
      "the stores of this program are: {}; write postgresql://user@host/database, "
      "mysql://user@host/database, "
      "sqlite:relative.db or sqlite:/absolute.db",
      linked_dialects_text());
}

std::string sqlite_path(std::string_view path) {
  if (path.empty()) refuse("the URL sqlite: names no file; write sqlite:relative.db or sqlite:/absolute.db");
  if (path.starts_with(":memory:")) {
    refuse(
        "sqlite::memory: is refused: a lock in the memory of one connection protects nothing; "
        "name a file that every process opens, as in sqlite:/absolute.db");
  }
  if (path.starts_with("//")) {
    refuse(
        "sqlite:// is refused because tools differ in what its slashes mean; "
        "write sqlite:relative.db or sqlite:/absolute.db");
  }
  if (const auto question = path.find('?'); question != std::string_view::npos) {
    const auto found = find_unknown_parameter(path.substr(question + 1), {});
    refuse(
        fmt::format("a sqlite: URL takes no parameter{} after a question mark; "
                    "write sqlite:relative.db or sqlite:/absolute.db",
                    found ? found->quoted_name() : ""));
  }
  return std::string{path};
}

// libpq decodes keys too, so p%61ssword means password.
std::string decode_lower(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
        std::isxdigit(static_cast<unsigned char>(text[i + 2]))) {
      c = static_cast<char>(model::hex_value(text[i + 1]) * 16 + model::hex_value(text[i + 2]));
      i += 2;
    }
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

bool is_secret(std::string_view key) {
  const auto name = decode_lower(key);
  return name.find("passw") != std::string::npos || name == "pwd" || name == "pass";
}

bool is_plain_word(std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 30 && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

std::string unknown_parameter::quoted_name() const {
  return name.empty() ? std::string{} : fmt::format(" \"{}\"", name);
}

std::optional<unknown_parameter> find_unknown_parameter(std::string_view query,
                                                        const std::vector<std::string>& known) {
  // If a password contains a question mark, the rest of the password, up to its '@', looks like parameters.
  // If the value of password=… contains an '&', the rest of the value does.
  bool may_be_secret = query.find('@') != std::string_view::npos;
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    const auto equals = part.find('=');
    const auto name = part.substr(0, equals);
    if (!part.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
      if (may_be_secret || equals == std::string_view::npos || !is_plain_word(name))
        return unknown_parameter{};
      return unknown_parameter{std::string{name}, model::did_you_mean(name, known)};
    }
    may_be_secret = may_be_secret || is_secret(name);
  }
  return {};
}

database_url parse_url(std::string_view url) {
  const auto scheme = scheme_of(url);
  if (url.empty()) refuse("the database URL is empty; " + known_forms());
  if (std::any_of(url.begin(), url.end(), [](char c) { return c == '\0' || c == '\n' || c == '\r'; })) {
    refuse("the database URL has a line break or a zero byte in it");
  }
  if (const auto foreign = foreign_scheme_of(url)) {
    refuse(fmt::format("rowlock does not know the URL scheme {}; begin the URL with {}: instead",
                       foreign->written, foreign->meant));
  }
  if (scheme == "postgresql" || scheme == "postgres") {
    check_server_url(url, scheme);
    return {"postgres", std::string{url}};
  }
  if (scheme == "sqlite") return {"sqlite", sqlite_path(url.substr(scheme.size() + 1))};
  if (scheme == "mysql" || scheme == "mariadb") {
    check_server_url(url, scheme);
    return {"mysql", std::string{url}};
  }
  if (scheme.empty())
    refuse("the database URL does not begin with a scheme that rowlock knows; " + known_forms());
  refuse(fmt::format("rowlock does not know the URL scheme {}:; {}", scheme, known_forms()));
}

std::string hide_secret(std::string message, std::string_view secret) {
  if (secret.empty()) return message;
  constexpr std::string_view ends_of_a_value = " \t\r\n&;,'\"";
  for (auto at = message.find(secret); at != std::string::npos; at = message.find(secret, at + 1)) {
    const auto before = at == 0 ? '\0' : message[at - 1];
    const auto end = at + secret.size();
    const auto after = end == message.size() ? ' ' : message[end];
    const bool in_a_url = before == ':' && after == '@';
    const bool quoted = (before == '\'' || before == '"') && at > 1 && message[at - 2] == '=';
    const bool a_value = (before == '=' || quoted) && ends_of_a_value.find(after) != std::string_view::npos;
    if (in_a_url || a_value) message.replace(at, secret.size(), hidden);
  }
  return message;
}

std::string quoted_value(std::string_view value) {
  std::string result = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + '\'';
}

std::int64_t whole_seconds(std::chrono::milliseconds time) noexcept {
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace rowlock::store
