#ifdef ROWLOCK_TEST_MYSQL

#include "sql_session.hpp"
#include "support/mysql_connection.hpp"

#include <rowlock/guard/mysql.hpp>

namespace rowlock::test {

namespace {

class mysql_sql_session final : public sql_session {
 public:
  explicit mysql_sql_session(const std::string& url) : connection_{as_application(url)} {}

  rows run(const std::string& sql, std::initializer_list<std::string> parameters) override {
    return connection_.run(sql, parameters);
  }
  void begin() override { connection_.run("START TRANSACTION"); }
  void guard(const hold& held) override { rowlock::guard(connection_.handle(), held); }
  // Error 3101 is a commit that lost against another member's of a replication group.
  bool was_rolled_back(const std::exception& failure) const override {
    const auto* const said = dynamic_cast<const mysql_failure*>(&failure);
    return said != nullptr && (said->number() == 1213 || said->number() == 3101);
  }
  test::dialect dialect() const noexcept override { return dialect::mysql; }

 private:
  mysql_connection connection_;
};

}  // namespace

std::unique_ptr<sql_session> open_mysql_session(const std::string& url) {
  return std::make_unique<mysql_sql_session>(url);
}

}  // namespace rowlock::test

#endif
