// One connection through SOCI: queries by name, errors in rowlock's words, and a way to break it from another
// thread. SOCI's headers stay behind it.
#pragma once

#include "store/mysql/mysql_endpoint.hpp"
#include "store/mysql/mysql_rows.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rowlock::store {

// Stands in a query as it is: literals that need no quoting, see mysql_list.
struct mysql_literals {
  std::string text;
};

// A value for :name in a query. Texts are quoted by SOCI.
struct mysql_value {
  std::string name;
  std::variant<std::string, long long, mysql_literals> value;
};

using mysql_values = std::vector<mysql_value>;

// A query of the catalog with its values. Queries that are sent together share their values' names.
struct mysql_statement {
  std::string query;
  mysql_values values;
};

class mysql_connection {
 public:
  // Connects to that place of the endpoint's; sets nothing. read_timeout 0: none.
  mysql_connection(const mysql_endpoint& endpoint, const sql_catalog& catalog,
                   std::chrono::milliseconds connect_timeout, std::chrono::milliseconds read_timeout,
                   std::size_t place = 0);
  ~mysql_connection();
  mysql_connection(const mysql_connection&) = delete;
  mysql_connection& operator=(const mysql_connection&) = delete;

  // The rows of a query, whose first `columns` columns are read, as texts. Of a block: those of the one
  // statement that returns rows, if it came to that.
  mysql_rows read(const std::string& query, std::size_t columns, const mysql_values& values = {});
  // How many rows a query matched, which for INSERT ... ON DUPLICATE KEY UPDATE says little.
  std::int64_t write(const std::string& query, const mysql_values& values = {});
  // MariaDB: as write, for what is sent often: the server parses the query once.
  std::int64_t write_prepared(const std::string& query, const mysql_values& values);
  // MariaDB: a block that begins and ends a transaction. One that fails leaves none open; one that is read is
  // prepared.
  mysql_rows read_block(const std::string& query, std::size_t columns, const mysql_values& values);
  void write_block(const std::string& query, const mysql_values& values);
  // What the write before set with LAST_INSERT_ID(expression). It is stale where that matched no row.
  std::int64_t last_insert_id();

  // Whether the server was told that they wait for no row: then a locked one is error 1205 at once.
  enum class waiting : std::uint8_t { as_set, never };
  // Several statements of the catalog in order, with `before` and `after` around them (START TRANSACTION,
  // COMMIT): in one round trip where the server takes blocks (MariaDB), else one by one. None may return
  // rows.
  void write_all(std::string_view doing, std::string_view before, std::span<const mysql_statement> statements,
                 std::string_view after, waiting how = waiting::as_set);
  // SQL that is no query of the catalog.
  void execute(std::string_view doing, const std::string& sql);

  // For a script that leaves a transaction open, or may leave one when it fails. Never throws.
  void rollback() noexcept;
  // MariaDB: BEGIN NOT ATOMIC ... END outside of stored programs, and SET STATEMENT ... FOR.
  void allow_blocks() noexcept { blocks_ = true; }
  bool takes_blocks() const noexcept { return blocks_; }

  // Through a Unix socket: the process that listens there, 0 if it is of another container. Else nothing.
  std::optional<std::int64_t> local_server() const;

  // Any thread, while this object lives: what runs now fails as unreachable, and so does all that follows.
  void interrupt() noexcept;

 private:
  struct driver;

  mysql_rows run(std::string_view doing, const std::string& sql, std::size_t columns,
                 const mysql_values& values);
  const std::string& prepared(const std::string& query);
  mysql_rows run_block(std::string_view doing, const std::string& sql, std::size_t columns,
                       const mysql_values& values);
  template <class Work>
  auto guarded(std::string_view doing, const Work& work);
  void check_usable(std::string_view doing) const;
  [[noreturn]] void fail(const std::exception& cause, std::string_view doing);

  const mysql_endpoint& endpoint_;
  const sql_catalog& catalog_;
  std::map<std::string, std::string> prepared_;  // how a query of the catalog is executed
  std::unique_ptr<driver> driver_;
  std::int64_t matched_ = 0;
  int socket_ = -1;  // a duplicate, so that interrupt() cannot hit a number that another file has taken
  bool blocks_ = false;
  bool broken_ = false;
};

}  // namespace rowlock::store
