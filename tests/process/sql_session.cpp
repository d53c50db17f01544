#include "sql_session.hpp"

#include <stdexcept>

namespace rowlock::test {

std::unique_ptr<sql_session> sql_session::open(const std::string& url) {
  static const std::string sqlite = "sqlite:";
#ifdef ROWLOCK_TEST_SQLITE
  if (url.starts_with(sqlite)) return open_sqlite_session(url.substr(sqlite.size()));
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (url.starts_with("mysql:")) return open_mysql_session(url);
#endif
#ifdef ROWLOCK_TEST_POSTGRES
  if (url.starts_with("postgres")) return open_postgres_session(url);
#endif
  throw std::runtime_error("the store of this URL is not built in");
}

std::int64_t sql_session::number(const std::string& sql, std::initializer_list<std::string> parameters) {
  const auto answer = run(sql, parameters);
  if (answer.size() != 1 || answer[0].size() != 1) throw std::runtime_error("not one field: " + sql);
  return answer[0][0].empty() ? 0 : std::stoll(answer[0][0]);
}

std::string replace_all(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace rowlock::test
