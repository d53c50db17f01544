// Which rows SQLite visits for a statement, when the tables have many rows that do not concern it.
#include "sqlite_test.hpp"

namespace rowlock::test {
namespace {

class sqlite_growth_test : public sqlite_test {
 protected:
  // How the statement finds the rows of the table, in SQLite's words.
  std::string way_to(const std::string& table, const std::string& statement) {
    const store::sql_catalog catalog{embedded::sqlite_queries(), "rowlock_"};
    raw_sqlite raw{path()};
    sqlite3_stmt* plan = nullptr;
    const auto sql = "EXPLAIN QUERY PLAN " + catalog[statement];
    EXPECT_EQ(sqlite3_prepare_v2(raw.handle(), sql.c_str(), -1, &plan, nullptr), SQLITE_OK)
        << sqlite3_errmsg(raw.handle());
    std::string found;
    while (sqlite3_step(plan) == SQLITE_ROW) {
      const std::string line = reinterpret_cast<const char*>(sqlite3_column_text(plan, 3));
      if (line.find(' ' + table + ' ') != std::string::npos) found = line;
    }
    sqlite3_finalize(plan);
    return found;
  }
};

TEST_F(sqlite_growth_test, a_release_looks_up_one_permit_however_many_are_held) {
  EXPECT_NE(way_to("p", "edit_read_permit").find("(name=? AND hold_id=?)"), std::string::npos);
  EXPECT_EQ(way_to("p", "edit_read_permits").find("hold_id=?"), std::string::npos);
  EXPECT_NE(way_to("p", "edit_read_sum").find("(name=?)"), std::string::npos);
}

}  // namespace
}  // namespace rowlock::test
