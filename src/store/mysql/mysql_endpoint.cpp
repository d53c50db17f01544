#include "store/mysql/mysql_endpoint.hpp"

#include "store/url.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mysql.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>

namespace rowlock::store {

namespace {

// Whether the client library takes a connection string in place of a host.
#if defined(MARIADB_PACKAGE_VERSION_ID) && MARIADB_PACKAGE_VERSION_ID >= 30301
constexpr bool takes_connection_strings = true;
#else
constexpr bool takes_connection_strings = false;
#endif

// From 3.4 on, MariaDB's client library verifies the host's name together with the chain. In the first
// versions of 3.4 an authority's file alone verifies nothing, so the library must be asked to verify.
bool verifies_names_anyway() {
  return takes_connection_strings && mysql_get_client_version() >= 30400;
}

// Where systems keep the certificates of the authorities that they trust: Debian, Fedora, openSUSE, Alpine.
constexpr const char* bundles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                   "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

std::string system_authorities() {
  // OpenSSL takes this file, too.
  if (const char* chosen = std::getenv("SSL_CERT_FILE"); chosen && *chosen) return chosen;
  const auto* found = std::find_if(std::begin(bundles), std::end(bundles),
                                   [](const char* path) { return ::access(path, R_OK) == 0; });
  return found == std::end(bundles) ? bundles[0] : *found;
}

constexpr std::string_view form =
    "mysql://user:password@host:port/database?parameters, or host:port,host:port";

[[noreturn]] void refuse(const std::string& message) {
  throw error(errc::invalid_argument, message);
}

std::string decoded(std::string_view text, std::string_view what) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned char byte = 0;
    const auto* digits = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      refuse(fmt::format(
          "the {} in the MySQL URL has a % that two hex digits do not follow; write % itself as %25", what));
    }
    if (byte == 0) refuse(fmt::format("the {} in the MySQL URL has a zero byte in it", what));
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

void check_port(std::string_view port) {
  int number = 0;
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (failure != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65535) {
    refuse(fmt::format("the port in the MySQL URL is not a number from 1 to 65535; expected {}", form));
  }
}

bool is_host_char(unsigned char c) {
  return std::isalnum(c) != 0 ||
         std::string_view{".-_:%"}.find(static_cast<char>(c)) != std::string_view::npos;
}

std::string assignment(std::string_view key, std::string_view value) {
  return fmt::format("{}={} ", key, quoted_value(value));
}

// The parameters of a URL, by their names.
std::map<std::string, std::string> values_of(std::string_view query) {
  std::map<std::string, std::string> values;
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    if (part.empty()) continue;
    const auto equals = part.find('=');
    const auto key = part.substr(0, equals);
    values[std::string{key}] =
        equals == std::string_view::npos ? std::string{} : decoded(part.substr(equals + 1), key);
  }
  return values;
}

}  // namespace

void mysql_endpoint::set(std::string_view key, const std::string& value) {
  text_ += assignment(key, value);
}

bool mysql_endpoint::names_file(std::string_view parameter) const noexcept {
  return std::any_of(files_.begin(), files_.end(), [&](const auto& file) { return file.first == parameter; });
}

mysql_endpoint::mysql_endpoint(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos)
    refuse(fmt::format("a MySQL URL needs two slashes; expected {}", form));
  auto rest = url.substr(scheme + 3);
  const auto question = rest.find('?');
  const auto query = question == std::string_view::npos ? std::string_view{} : rest.substr(question + 1);
  rest = rest.substr(0, question);
  if (rest.find('#') != std::string_view::npos) {
    refuse("the MySQL URL has a '#' in it; write one inside a name or password as %23");
  }
  // A raw '@' or '/' ends a password too early; the rest would be taken for the host and be printed.
  if (std::count(rest.begin(), rest.end(), '@') > 1) {
    refuse(
        "the MySQL URL has more than one '@' before its parameters; write the one inside the user's name or "
        "password as %40 (and '/' as %2F, ':' as %3A)");
  }
  const auto slash = rest.find('/');
  if (const auto at = rest.find('@'); at != std::string_view::npos && slash < at) {
    refuse("the MySQL URL has a '/' before its '@'; write the one inside the user's name or password as %2F");
  }
  read_authority(rest.substr(0, slash));
  if (slash != std::string_view::npos) database_ = decoded(rest.substr(slash + 1), "database");
  if (database_.empty() || database_.find('/') != std::string::npos) {
    refuse(fmt::format("the MySQL URL must name one database; expected {}", form));
  }
  set("dbname", database_);
  set("charset", "utf8mb4");
  read_parameters(query);
}

void mysql_endpoint::read_authority(std::string_view authority) {
  if (const auto at = authority.find('@'); at != std::string_view::npos) {
    const auto who = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    const auto colon = who.find(':');
    if (const auto user = decoded(who.substr(0, colon), "user"); !user.empty()) set("user", user);
    if (colon != std::string_view::npos) {
      password_ = decoded(who.substr(colon + 1), "password");
      set("password", password_);
    }
  }
  for (;;) {
    const auto comma = authority.find(',');
    places_.push_back(read_address(authority.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    authority.remove_prefix(comma + 1);
  }
  if (places_.size() == 1) return;
  for (const auto& one : places_) {
    if (one.host.empty())
      refuse(fmt::format("one of the hosts in the MySQL URL has no name; expected {}", form));
  }
}

mysql_endpoint::address mysql_endpoint::read_address(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) refuse("the MySQL URL has a '[' without ']' in its host");
    if (end + 1 < text.size() && text[end + 1] != ':') {
      refuse(fmt::format("something other than a port follows the host of the MySQL URL; expected {}", form));
    }
    if (end + 2 <= text.size()) port = text.substr(end + 2);
    text = text.substr(1, end - 1);
  } else if (const auto colon = text.rfind(':'); colon != std::string_view::npos) {
    port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  auto host = decoded(text, "host");
  if (!port.empty()) {
    check_port(port);
    // The client library would use the Unix socket for "localhost" and ignore the port.
    if (host.empty() || host == "localhost") host = "127.0.0.1";
  }
  // The client library would read options, or the name of a plugin, from a host with other characters.
  if (!std::all_of(host.begin(), host.end(), is_host_char)) {
    refuse(fmt::format("the host in the MySQL URL is neither a name nor an address; expected {}", form));
  }
  return {std::move(host), std::string{port}};
}

void mysql_endpoint::check_files() const {
  for (const auto& [key, path] : files_) {
    if (::access(path.c_str(), R_OK) == 0) continue;
    if (key.empty()) {
      refuse(fmt::format(
          "ssl_mode=VERIFY_IDENTITY without ssl_ca trusts the system's authorities, but {} cannot be read: "
          "{}; install ca-certificates, or name the authority's file with ssl_ca",
          path, std::strerror(errno)));
    }
    refuse(fmt::format("{} in the MySQL URL names {}, which cannot be read: {}", key, path,
                       std::strerror(errno)));
  }
}

void mysql_endpoint::read_parameters(std::string_view query) {
  const std::vector<std::string> known{"socket", "ssl_mode", "ssl_ca", "ssl_cert", "ssl_key"};
  if (const auto unknown = find_unknown_parameter(query, known)) {
    refuse(fmt::format(
        "the MySQL URL has a parameter{} that rowlock does not know{} It takes {}, and no other",
        unknown->quoted_name(), unknown->advice.empty() ? "." : unknown->advice, fmt::join(known, ", ")));
  }
  auto values = values_of(query);
  if (const auto socket = values.find("socket"); socket != values.end()) set("unix_socket", socket->second);
  if (places_.size() > 1 && values.contains("socket")) {
    refuse("a MySQL URL with several hosts takes no socket");
  }
  check_tls(values);
  set_tls(values);
}

void mysql_endpoint::check_tls(std::map<std::string, std::string>& values) {
  const bool has_mode = values.contains("ssl_mode");
  auto mode = values["ssl_mode"];
  std::transform(mode.begin(), mode.end(), mode.begin(), [](unsigned char c) { return std::toupper(c); });
  const bool has_ca = !values["ssl_ca"].empty();
  if (mode == "VERIFY_CA") {
    refuse(
        "ssl_mode=VERIFY_CA is refused: SOCI cannot pass it on. VERIFY_IDENTITY checks more; REQUIRED with "
        "ssl_ca checks the certificate's chain too, but refuses a server without TLS only after the login");
  }
  verify_ = mode == "VERIFY_IDENTITY";
  if (has_mode && !verify_ && mode != "DISABLED" && mode != "PREFERRED" && mode != "REQUIRED") {
    refuse("ssl_mode is none of DISABLED, PREFERRED, REQUIRED and VERIFY_IDENTITY");
  }
  if (verify_ && !takes_connection_strings) {
    refuse(
        "ssl_mode=VERIFY_IDENTITY needs MariaDB's client library 3.3 or later below SOCI; "
        "with another one go through a tunnel that verifies the server");
  }
  const bool has_name = std::none_of(places_.begin(), places_.end(), [](const auto& one) {
    return one.host.empty() || one.host == "localhost";
  });
  if (verify_ && (!has_name || values.contains("socket"))) {
    refuse(
        "ssl_mode=VERIFY_IDENTITY needs the host that the server's certificate names; "
        "a Unix socket has none");
  }
  const bool is_loopback = std::any_of(places_.begin(), places_.end(), [](const auto& one) {
    return one.host == "127.0.0.1" || one.host == "::1";
  });
  if (verify_ && is_loopback) {
    refuse(
        "ssl_mode=VERIFY_IDENTITY is refused for 127.0.0.1, ::1 and localhost: "
        "MariaDB's client library 3.4 compares no certificate with them. "
        "Use another name of the host, or ssl_ca without ssl_mode");
  }
  if (mode == "DISABLED" && has_ca) refuse("ssl_mode=DISABLED and ssl_ca contradict each other");
  if (mode == "REQUIRED" && !has_ca) {
    refuse(
        "ssl_mode=REQUIRED needs ssl_ca, the file of the authority that signed the server's certificate: "
        "SOCI's MySQL backend uses TLS only with it");
  }
  if (!has_ca && (values.contains("ssl_cert") || values.contains("ssl_key"))) {
    refuse("ssl_cert and ssl_key need ssl_ca: SOCI's MySQL backend uses TLS only with it");
  }
  // A URL that names an authority wants the server to be verified, so TLS is never silently omitted.
  must_encrypt_ = verify_ || mode == "REQUIRED" || (has_ca && mode != "PREFERRED");
}

void mysql_endpoint::set_tls(std::map<std::string, std::string>& values) {
  for (const auto& [key, option] :
       {std::pair{"ssl_ca", "sslca"}, {"ssl_cert", "sslcert"}, {"ssl_key", "sslkey"}}) {
    if (values[key].empty()) continue;
    files_.emplace_back(key, values[key]);
    set(option, values[key]);
  }
  // Without a file, MariaDB's client library 3.4 would also trust any certificate for which the server
  // vouches by signing its fingerprint with the hash of the user's password.
  if (verify_ && values["ssl_ca"].empty()) {
    files_.emplace_back(std::string{}, system_authorities());
    set("sslca", files_.back().second);
  }
}

std::string mysql_endpoint::connect_string(std::chrono::milliseconds connect_timeout,
                                           std::chrono::milliseconds read_timeout, std::size_t place) const {
  const auto& [host, port] = places_.at(place);
  auto text = text_;
  if (verify_ || (must_encrypt_ && !host.empty() && verifies_names_anyway())) {
    // SOCI does not pass ssl-verify-server-cert on. But MariaDB's client library accepts a connection string
    // in place of a host (its mariadb_connect() does no more than pass one on). With that option the library
    // leaves a server without TLS before the login.
    text += assignment("host", fmt::format("host={{{}}};ssl-verify-server-cert=1", host));
  } else if (!host.empty()) {
    text += assignment("host", host);
  }
  if (!port.empty()) text += assignment("port", port);
  text += fmt::format("connect_timeout={}", whole_seconds(connect_timeout));
  if (read_timeout.count() > 0) {
    const auto limit = whole_seconds(read_timeout) + 1;
    text += fmt::format(" read_timeout={0} write_timeout={0}", limit);
  }
  return text;
}

std::string mysql_endpoint::place_text(std::size_t place) const {
  const auto& [host, port] = places_.at(place);
  if (host.empty() || host == "localhost") return {};
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return fmt::format("{}:{}", is_ipv6 ? '[' + host + ']' : host, port.empty() ? "3306" : port);
}

std::string mysql_endpoint::scrub(std::string message) const {
  return hide_secret(std::move(message), password_);
}

}  // namespace rowlock::store
