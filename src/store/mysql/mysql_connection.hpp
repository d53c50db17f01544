// One connection through SOCI: statements by name, errors as rowlock::error, and a way to break it from
// another thread. No header includes SOCI's headers.
#pragma once

#include "store/mysql/mysql_endpoint.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_rows.hpp"
#include "store/sql_catalog.hpp"
#include "store/waker.hpp"

#include <rowlock/error.hpp>

#include <chrono>
#include <concepts>
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

// SQL that is inserted into a statement unchanged: literals that need no quoting, see mysql_list.
struct mysql_literals {
  std::string text;
};

// A value for :name in a statement. SOCI quotes texts.
struct mysql_value {
  template <class Value>
  mysql_value(std::string its_name, const Value& its_value)
      : name{std::move(its_name)}, value{stored(its_value)} {}

  std::string name;
  std::variant<std::string, long long, mysql_literals> value;

 private:
  using variant = std::variant<std::string, long long, mysql_literals>;
  static variant stored(std::string_view text) { return std::string{text}; }
  static variant stored(std::integral auto number) { return static_cast<long long>(number); }
  static variant stored(const model::id128& id) { return id.to_string(); }
  static variant stored(const mysql_json& batch) { return batch.str(); }
  static variant stored(const mysql_literals& literals) { return literals; }
  template <class Rep, class Period>
  static variant stored(std::chrono::duration<Rep, Period> time) {
    return static_cast<long long>(time.count());
  }
};

using mysql_values = std::vector<mysql_value>;

// A statement of the catalog with its values.
struct mysql_statement {
  std::string statement;
  mysql_values values;
};

class mysql_connection {
 public:
  // Connects to one of the endpoint's places, and sends no statement. read_timeout 0: no limit.
  mysql_connection(const mysql_endpoint& endpoint, const sql_catalog& catalog,
                   std::chrono::milliseconds connect_timeout, std::chrono::milliseconds read_timeout,
                   std::size_t place = 0);
  ~mysql_connection();
  mysql_connection(const mysql_connection&) = delete;
  mysql_connection& operator=(const mysql_connection&) = delete;

  // Runs a statement of the catalog, and returns its rows. The statement may be a script, which is several
  // statements in one round trip (see send_one_by_one): then the rows are those of the last one that returns
  // any, and a statement that fails ends the script.
  mysql_rows read(const std::string& statement, const mysql_values& values = {});
  // As read(), but returns how many rows the statement matched. Not for INSERT ... ON DUPLICATE KEY UPDATE,
  // which counts differently.
  std::int64_t write(const std::string& statement, const mysql_values& values = {});
  // As write(), on MariaDB alone, for a statement that is sent often: the server parses it once.
  std::int64_t write_prepared(const std::string& statement, const mysql_values& values);
  // As read(), for a script that begins and commits a transaction. If the script fails, the transaction is
  // rolled back. If a row or a gap is locked (error 1205), returns no rows and throws nothing.
  mysql_rows read_transaction(const std::string& script, const mysql_values& values);
  // As read_transaction(), for a script that is sent often: MariaDB parses it once. A value that is
  // mysql_literals must be a single one, as mysql_text() makes it, not a list.
  mysql_rows read_prepared(const std::string& script, const mysql_values& values);
  // As read_prepared() above, but the script `begin`, which begins the transaction, is sent in front of
  // `script`. Returns nullopt if `begin` is take_hot_row and has waited in vain for its row, for as long as it
  // may; then nothing has changed.
  std::optional<mysql_rows> read_prepared(const std::string& begin, const std::string& script,
                                          const mysql_values& values);
  // The value that the last write set with LAST_INSERT_ID(expression). It is meaningless if that write
  // matched no row, and 0 if the table has a trigger.
  std::int64_t last_insert_id();

  // never: the server does not wait for a locked row, but reports error 1205 at once. MySQL cannot do that,
  // and waits for a second.
  enum class waiting : std::uint8_t { as_set, never };
  // Sends several statements of the catalog, in order, in one round trip (see send_one_by_one): first the one
  // that `before` names, last the one that `after` names. Both names may be empty; `how` does not apply to
  // these two. Returns the rows of the last statement that returns any.
  mysql_rows send(std::string_view doing, std::string_view before,
                  std::span<const mysql_statement> statements, std::string_view after = {},
                  waiting how = waiting::as_set);
  // How many rows the last statement that was sent has matched.
  std::int64_t matched() const noexcept { return matched_; }
  // Runs SQL that is not in the catalog.
  void execute(std::string_view doing, const std::string& sql);

  // For a transaction that is still open, or may be. Never throws.
  void rollback() noexcept;
  // A server is taken for MySQL until this is called.
  void set_mariadb() noexcept { is_mariadb_ = true; }
  bool is_mariadb() const noexcept { return is_mariadb_; }

  // From now on each statement of a script is sent when the one before has been answered. Galera aborts a
  // transaction in favour of another node's. If the transaction is between two statements of one round trip,
  // MariaDB reports no error: it rolls back, runs the other statements outside of any transaction, and says
  // that all went well. A transaction between two round trips fails at its next statement.
  void send_one_by_one() noexcept { one_by_one_ = true; }

  // Whether something that gives connections no numbers answers in the server's place, as MySQL Router does.
  bool is_behind_router() const noexcept;
  // The process that listens on this connection's Unix socket; 0 if that is in another container. Empty if
  // the connection uses no Unix socket.
  std::optional<std::int64_t> local_server() const;

  // Any thread may call this while the object lives. The running statement fails as unreachable, and so do
  // all that follow.
  void interrupt() noexcept;

 private:
  struct driver;

  mysql_rows ask(const std::string& sql, const mysql_values& values);
  mysql_rows run(std::string_view doing, const std::string& sql, const mysql_values& values);
  enum class form : std::uint8_t { statement, block };
  const std::string& prepared(const std::string& name, form as);
  mysql_rows run_transaction(std::string_view doing, const std::string& sql, const mysql_values& values);
  template <class Work>
  auto guarded(std::string_view doing, const Work& work);
  void check_usable(std::string_view doing) const;
  void break_connection() noexcept;
  [[noreturn]] void fail(const std::exception& cause, std::string_view doing);

  const mysql_endpoint& endpoint_;
  const sql_catalog& catalog_;
  std::map<std::string, std::string> prepared_;  // by a statement's name: the EXECUTE that runs it
  std::unique_ptr<driver> driver_;
  std::int64_t matched_ = 0;
  owned_fd socket_;  // a duplicate, so that interrupt() cannot hit a number that another file has taken
  bool is_mariadb_ = false;
  bool one_by_one_ = false;
  bool broken_ = false;
};

}  // namespace rowlock::store
