// A plain connection to the database under test, like an application's own connection beside rowlock's.
#pragma once

#include <rowlock/hold.hpp>

#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

enum class dialect { postgres, mysql, sqlite };

class sql_session {
 public:
  using rows = std::vector<std::vector<std::string>>;

  // url: as rowlock::connect takes it. Throws std::runtime_error, like every member.
  static std::unique_ptr<sql_session> open(const std::string& url);

  sql_session() = default;
  sql_session(const sql_session&) = delete;
  sql_session& operator=(const sql_session&) = delete;
  virtual ~sql_session() = default;

  // Runs one statement with parameters, written $1, $2… or as rowlock's guard writes them; or any number of statements
  // without parameters.
  virtual rows run(const std::string& sql, std::initializer_list<std::string> parameters = {}) = 0;
  // Begins a transaction that will write.
  virtual void begin() = 0;
  // Calls rowlock/guard/*.hpp: throws error(hold_lost) if the hold does not stand.
  virtual void guard(const hold& held) = 0;
  // Whether run() threw this because the server has rolled the transaction back, so that it can be run again.
  virtual bool was_rolled_back(const std::exception&) const { return false; }
  virtual test::dialect dialect() const noexcept = 0;

  // The only field of the result, as a number.
  std::int64_t number(const std::string& sql, std::initializer_list<std::string> parameters = {});
};

// Replaces every `what` in the text, so that one script can serve several dialects and prefixes.
std::string replace_all(std::string text, const std::string& what, const std::string& with);

std::unique_ptr<sql_session> open_postgres_session(const std::string& url);
std::unique_ptr<sql_session> open_mysql_session(const std::string& url);
std::unique_ptr<sql_session> open_sqlite_session(const std::string& path);

}  // namespace rowlock::test
