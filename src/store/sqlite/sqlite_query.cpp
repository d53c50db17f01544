#include "store/sqlite/sqlite_query.hpp"

#include "store/sqlite/sqlite_connection.hpp"

namespace rowlock::store {

sqlite_query::~sqlite_query() {
  sqlite3_reset(statement_);
}

void sqlite_query::bind(std::string_view value) {
  // SQLite copies the value, because the text of an id is a temporary. The copy is small.
  const int code =
      sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) connection_.fail(code);
}

bool sqlite_query::next() {
  connection_.throw_if_interrupted();
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail(code);
  return false;
}

std::int64_t sqlite_query::run() {
  while (next()) {
  }
  return sqlite3_changes(connection_.handle());
}

std::string_view sqlite_query::text_at(int index) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, index));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, index))};
}

}  // namespace rowlock::store
