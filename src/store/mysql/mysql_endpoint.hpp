// Turns the caller's URL into SOCI's connect string, and removes its secrets from messages.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::store {

class mysql_endpoint {
 public:
  // mysql://user:password@host:port/database?parameters, or mariadb://; every part may be percent-encoded.
  // Several places, as in host,host:port, each have their own port. Parameters: socket, ssl_mode, ssl_ca,
  // ssl_cert, ssl_key. Throws error(invalid_argument) for a URL that cannot be read or followed; the message
  // repeats only names from the URL.
  explicit mysql_endpoint(std::string_view url);

  // How many places the URL names.
  std::size_t places() const noexcept { return places_.size(); }

  // The text of a place for a message, such as 10.0.0.7:3307. Empty for a Unix socket.
  std::string place_text(std::size_t place) const;

  // SOCI's connect string. read_timeout 0: no limit for an answer.
  std::string connect_string(std::chrono::milliseconds connect_timeout,
                             std::chrono::milliseconds read_timeout, std::size_t place = 0) const;

  // Whether the connection must be encrypted, which is checked after connecting.
  bool must_encrypt() const noexcept { return must_encrypt_; }
  // Whether the connection is encrypted if the server can do that.
  bool may_encrypt() const noexcept { return verify_ || names_file("ssl_ca"); }
  // Whether the URL names a certificate of the user.
  bool has_certificate() const noexcept { return names_file("ssl_cert"); }
  const std::string& database() const noexcept { return database_; }

  // Throws error(invalid_argument) if a file that the URL names cannot be read.
  void check_files() const;

  // Returns the message with the password hidden where it is used as one, see hide_secret().
  std::string scrub(std::string message) const;

 private:
  struct address {
    std::string host;
    std::string port;
  };

  void read_authority(std::string_view authority);
  static address read_address(std::string_view text);
  void read_parameters(std::string_view query);
  // Refuses contradictions, and decides what the parameters for TLS require.
  void check_tls(std::map<std::string, std::string>& values);
  void set_tls(std::map<std::string, std::string>& values);
  void set(std::string_view key, const std::string& value);
  bool names_file(std::string_view parameter) const noexcept;

  std::string text_;  // the connect string without the place and the time limits
  std::vector<address> places_;
  std::string database_;
  std::string password_;
  // Parameter and path; the file of the system's authorities belongs to no parameter.
  std::vector<std::pair<std::string, std::string>> files_;
  bool must_encrypt_ = false;
  bool verify_ = false;  // whether to verify that the server's certificate names the host
};

}  // namespace rowlock::store
