// A plain connection to MariaDB or MySQL through its C library, independent of rowlock's own.
#pragma once

#if __has_include(<mysql.h>)
#include <mysql.h>
#else
#include <mariadb/mysql.h>
#endif

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace rowlock::test {

// The server's error message and number.
class mysql_failure : public std::runtime_error {
 public:
  mysql_failure(unsigned number, const std::string& text)
      : std::runtime_error(text + " (" + std::to_string(number) + ")"), number_{number} {}

  unsigned number() const noexcept { return number_; }

 private:
  unsigned number_;
};

class mysql_connection {
 public:
  using rows = std::vector<std::vector<std::string>>;

  // url: mysql://user:password@host:port/database, as rowlock takes it. Of several places, host:port,host:port, it
  // connects to the first one that answers and takes writes. Throws mysql_failure, like every member.
  explicit mysql_connection(const std::string& url);

  // Runs one statement with parameters, written `?` in order or $1, $2…; or any number of statements without
  // parameters. Returns the rows of the last statement that has any. NULL is an empty string.
  rows run(const std::string& sql, std::initializer_list<std::string> parameters = {});
  // The first column of the first row; empty if there is no row.
  std::string value(const std::string& sql, std::initializer_list<std::string> parameters = {});

  std::string id() { return value("SELECT CONNECTION_ID()"); }
  MYSQL* handle() const noexcept { return handle_.get(); }

 private:
  std::string fill_in(const std::string& sql, const std::vector<std::string>& parameters) const;
  [[noreturn]] void fail() const;

  std::unique_ptr<MYSQL, decltype(&mysql_close)> handle_;
};

// ROWLOCK_TEST_MARIADB_URL or ROWLOCK_TEST_MYSQL_URL. Throws std::runtime_error if it is not set.
std::string mysql_server_url(const std::string& store);
// The URL of the same server with another database.
std::string with_database(const std::string& url, const std::string& database);
// The same URL with the user of the tests' own connections, whom the server's process list distinguishes from
// rowlock's.
std::string as_application(const std::string& url);
// The same URL with a user without special privileges, for whom the server runs init_connect (hostile_init_connect).
std::string as_ordinary(const std::string& url);
// Settings that an administrator may have made for every ordinary user. Each of them breaks a statement that relies on
// the default.
std::string hostile_init_connect(const std::string& store);
// A shell command that runs the store's command-line client at that URL: plain values, one row a line. The client stops
// at the first error.
std::string mysql_client_command(const std::string& store, const std::string& url);

}  // namespace rowlock::test
