// A plain connection to MariaDB or MySQL through its C library, beside rowlock's own.
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

// What the server said, and its number.
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

  // url: mysql://user:password@host:port/database, as rowlock takes it. Throws mysql_failure, as every member
  // does.
  explicit mysql_connection(const std::string& url);

  // One statement with parameters, written `?` in order or $1, $2…; or any number of statements without. The
  // rows are the last one's that has any. NULL is an empty string.
  rows run(const std::string& sql, std::initializer_list<std::string> parameters = {});
  // The first column of the first row; empty when there is none.
  std::string value(const std::string& sql, std::initializer_list<std::string> parameters = {});

  std::string id() { return value("SELECT CONNECTION_ID()"); }
  MYSQL* handle() const noexcept { return handle_.get(); }

 private:
  std::string fill_in(const std::string& sql, const std::vector<std::string>& parameters) const;
  [[noreturn]] void fail() const;

  std::unique_ptr<MYSQL, decltype(&mysql_close)> handle_;
};

// ROWLOCK_TEST_MYSQL_URL. Throws std::runtime_error when it is not set.
std::string mysql_server_url();
// The same server's, with another database.
std::string with_database(const std::string& url, const std::string& database);
// The same, as the user that the tests' own connections have: a look at the server's processes tells them
// from rowlock's.
std::string as_application(const std::string& url);
// The same, as a user without special rights, for whom the server runs init_connect (hostile_init_connect).
std::string as_ordinary(const std::string& url);
// What an administrator may have set for every ordinary user, each against a statement of rowlock's.
extern const char* const hostile_init_connect;
// The command-line client there, for a shell: plain values, one row a line. It stops at the first error.
std::string mysql_client_command(const std::string& url);

}  // namespace rowlock::test
