#ifdef ROWLOCK_TEST_SQLITE

#include "sql_session.hpp"

#include <rowlock/guard/sqlite3.hpp>

#include <stdexcept>

namespace rowlock::test {

namespace {

class sqlite_sql_session final : public sql_session {
 public:
  explicit sqlite_sql_session(const std::string& path) : handle_{nullptr, &sqlite3_close} {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    handle_.reset(opened);
    check(code);
    sqlite3_busy_timeout(opened, 20'000);
  }

  rows run(const std::string& sql, std::initializer_list<std::string> parameters) override {
    if (parameters.size() == 0) return run_script(sql);
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr));
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement{prepared, &sqlite3_finalize};
    int number = 0;
    for (const auto& value : parameters) {
      // rowlock's guard writes ?1. Everything else here writes $1, which PostgreSQL understands too.
      const auto name = "$" + std::to_string(++number);
      const int index = sqlite3_bind_parameter_index(prepared, name.c_str());
      check(sqlite3_bind_text(prepared, index == 0 ? number : index, value.data(),
                              static_cast<int>(value.size()), SQLITE_TRANSIENT));
    }
    rows answer;
    int code = sqlite3_step(prepared);
    for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) {
      auto& fields = answer.emplace_back();
      for (int column = 0; column < sqlite3_column_count(prepared); ++column) {
        const auto* text = sqlite3_column_text(prepared, column);
        fields.emplace_back(text ? reinterpret_cast<const char*>(text) : "");
      }
    }
    check(code);
    return answer;
  }

  // Takes the write lock at once: a transaction that reads first could not write if another connection has written
  // since.
  void begin() override { run("BEGIN IMMEDIATE", {}); }
  void guard(const hold& held) override { rowlock::guard(handle_.get(), held); }
  test::dialect dialect() const noexcept override { return dialect::sqlite; }

 private:
  rows run_script(const std::string& sql) {
    rows answer;
    const auto take = [](void* into, int columns, char** values, char**) {
      auto& fields = static_cast<rows*>(into)->emplace_back();
      for (int column = 0; column < columns; ++column) {
        fields.emplace_back(values[column] ? values[column] : "");
      }
      return 0;
    };
    check(sqlite3_exec(handle_.get(), sql.c_str(), take, &answer, nullptr));
    return answer;
  }
  void check(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(handle_.get()));
  }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> handle_;
};

}  // namespace

std::unique_ptr<sql_session> open_sqlite_session(const std::string& path) {
  return std::make_unique<sqlite_sql_session>(path);
}

}  // namespace rowlock::test

#endif
