#include "store/raw_postgres.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace rowlock::test {

namespace {

using owned_result = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::string sqlstate_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state ? state : "?";
}

bool is_good(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

}  // namespace

raw_postgres::raw_postgres(const std::string& url) : handle_{PQconnectdb(url.c_str())} {
  if (!alive()) {
    const std::string said = PQerrorMessage(handle_);
    PQfinish(handle_);
    throw std::runtime_error(said);
  }
  PQsetNoticeProcessor(
      handle_, [](void*, const char*) {}, nullptr);
}

raw_postgres::~raw_postgres() {
  PQfinish(handle_);
}

raw_postgres::rows raw_postgres::run(const std::string& sql, std::initializer_list<std::string> parameters) {
  if (parameters.size() == 0) return take(PQexec(handle_, sql.c_str()));
  std::vector<const char*> values;
  for (const auto& parameter : parameters) values.push_back(parameter.c_str());
  return take(PQexecParams(handle_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                           nullptr, nullptr, 0));
}

std::string raw_postgres::value(const std::string& sql, std::initializer_list<std::string> parameters) {
  const auto answer = run(sql, parameters);
  if (answer.size() != 1 || answer[0].size() != 1) throw std::runtime_error("not one field: " + sql);
  return answer[0][0];
}

std::string raw_postgres::refusal(const std::string& sql) {
  const owned_result result{PQexec(handle_, sql.c_str()), &PQclear};
  return is_good(result.get()) ? std::string{} : sqlstate_of(result.get());
}

void raw_postgres::run_until_blocked(const std::string& sql, raw_postgres& observer) {
  if (PQsendQuery(handle_, sql.c_str()) != 1) throw std::runtime_error(PQerrorMessage(handle_));
  until_blocked(observer, pid());
}

raw_postgres::rows raw_postgres::finish() {
  owned_result last{nullptr, &PQclear};
  while (auto* result = PQgetResult(handle_)) last.reset(result);
  return take(last.release());
}

raw_postgres::rows raw_postgres::take(PGresult* result) {
  const owned_result owner{result, &PQclear};
  if (!is_good(result)) throw std::runtime_error(sqlstate_of(result) + ": " + PQerrorMessage(handle_));
  rows answer;
  for (int row = 0; row < PQntuples(result); ++row) {
    auto& fields = answer.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      fields.emplace_back(PQgetvalue(result, row, column));
    }
  }
  return answer;
}

void until_blocked(raw_postgres& observer, int pid) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (observer.value("SELECT cardinality(pg_blocking_pids($1::integer))", {std::to_string(pid)}) == "0") {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the statement does not wait");
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

}  // namespace rowlock::test
