#ifdef ROWLOCK_TEST_POSTGRES

#include "sql_session.hpp"

#include <rowlock/guard/libpq.hpp>

#include <stdexcept>

namespace rowlock::test {

namespace {

class postgres_sql_session final : public sql_session {
 public:
  explicit postgres_sql_session(const std::string& url) : handle_{PQconnectdb(url.c_str()), &PQfinish} {
    if (PQstatus(handle_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(handle_.get()));
    PQsetNoticeProcessor(
        handle_.get(), [](void*, const char*) {}, nullptr);
  }

  rows run(const std::string& sql, std::initializer_list<std::string> parameters) override {
    std::vector<const char*> values;
    for (const auto& parameter : parameters) values.push_back(parameter.c_str());
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{
        values.empty() ? PQexec(handle_.get(), sql.c_str())
                       : PQexecParams(handle_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                                      values.data(), nullptr, nullptr, 0),
        &PQclear};
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw std::runtime_error(PQerrorMessage(handle_.get()));
    }
    rows answer;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      auto& fields = answer.emplace_back();
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        fields.emplace_back(PQgetvalue(result.get(), row, column));
      }
    }
    return answer;
  }

  void begin() override { run("BEGIN", {}); }
  void guard(const hold& held) override { rowlock::guard(handle_.get(), held); }
  test::dialect dialect() const noexcept override { return dialect::postgres; }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> handle_;
};

}  // namespace

std::unique_ptr<sql_session> open_postgres_session(const std::string& url) {
  return std::make_unique<postgres_sql_session>(url);
}

}  // namespace rowlock::test

#endif
