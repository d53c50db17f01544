// Migrations for MariaDB and MySQL, which are sent one statement at a time.
#ifdef ROWLOCK_TEST_MYSQL
#include "store/mysql/mysql_script.hpp"

#include "fuzz.hpp"

using namespace rowlock;

ROWLOCK_FUZZ(script) {
  const auto statements = store::split_statements(bytes);
  std::string joined;
  for (const auto& one : statements) {
    fuzz::demand(!one.empty(), "no statement is empty");
    joined += one + ";\n";
  }
  // The last statement may be a quote or a comment without an end; then what is appended belongs to it.
  const auto again = store::split_statements(joined);
  fuzz::demand(again.size() == statements.size(), "splitting again finds as many statements");
  for (std::size_t i = 0; i + 1 < statements.size(); ++i) {
    fuzz::demand(again[i] == statements[i], "splitting again finds the same statements");
  }
}
#endif
