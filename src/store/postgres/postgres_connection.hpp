// One connection: prepared statements by name, scripts, errors as rowlock::error, and a way to break it from another
// thread. Behind a pooler that gives each transaction another session, nothing is prepared or set for longer than a
// transaction: each script begins with the settings, and statements carry their arguments as literals.
#pragma once

#include "store/connect_watch.hpp"
#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_conninfo.hpp"
#include "store/postgres/postgres_error.hpp"
#include "store/postgres/postgres_literal.hpp"
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/pqxx_compat.hpp"
#include "store/sql_catalog.hpp"
#include "store/waker.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace rowlock::store {

class postgres_connection {
 public:
  // Connects; sets nothing.
  postgres_connection(const postgres_conninfo& conninfo, const sql_catalog& catalog, connect_watch& watch);
  ~postgres_connection();

  // From now on the server's session may change with each transaction. `settings` is the script that sets up
  // one transaction.
  void set_pooled(std::string settings) { settings_ = std::move(settings); }
  bool is_pooled() const noexcept { return settings_.has_value(); }
  // Whether libpq and the server name the same backend. Asks the server.
  bool has_own_backend(std::chrono::milliseconds limit);

  // A script starts with begin(), which opens a transaction, or with settings() alone; the server then
  // executes the script as one transaction. After a COMMIT inside the script, one of the two is needed again.
  std::string begin() const { return "BEGIN;\n" + settings(); }
  std::string settings() const { return settings_.value_or(""); }

  // Runs a statement of the catalog in a transaction of its own. Arguments: see postgres_text.
  template <class... Args>
  postgres_rows call(const std::string& statement, const Args&... args) {
    if (is_pooled()) return script(statement, settings() + execute(statement, args...));
    prepare(statement);
    return guarded(statement, [&](pqxx::nontransaction& work) {
      return pqxx_compat::exec_prepared(work, statement, postgres_text(args)...);
    });
  }
  // As above; the columns of the batch are the first arguments.
  template <std::size_t Columns, class... Args>
  postgres_rows call(const std::string& statement, const postgres_batch<Columns>& batch,
                     const Args&... args) {
    return std::apply([&](const auto&... column) { return call(statement, column..., args...); },
                      batch.columns());
  }

  // As call(), with arguments that are texts already.
  template <std::size_t Count, class... Args>
  postgres_rows call(const std::string& statement, const std::array<std::string, Count>& texts,
                     const Args&... args) {
    return std::apply([&](const auto&... text) { return call(statement, text..., args...); }, texts);
  }

  // As call(), for a statement that is sent once: it is not prepared.
  postgres_rows call_once(const std::string& statement, sql_values values) {
    return script(statement, settings() + with_arguments(catalog_[statement], postgres_texts(values)));
  }
  template <class... Args>
  postgres_rows call_once(const std::string& statement, const Args&... args) {
    return script(statement, settings() + with_arguments(catalog_[statement],
                                                         std::vector<std::string>{postgres_text(args)...}));
  }

  // Returns "EXECUTE statement(arguments);" as a part of a script. A script is several statements in one
  // round trip and one transaction, each with its own snapshot. Its result is that of its last statement.
  template <class... Args>
  std::string execute(const std::string& statement, const Args&... args) {
    return execute_texts(statement, std::vector<std::string>{postgres_text(args)...});
  }
  template <std::size_t Columns>
  std::string execute(const std::string& statement, const postgres_batch<Columns>& batch) {
    return std::apply([&](const auto&... column) { return execute(statement, column...); }, batch.columns());
  }
  std::string execute_texts(const std::string& statement, const std::vector<std::string>& arguments);

  postgres_rows script(std::string_view doing, const std::string& sql);
  // For a script that leaves a transaction open, or may leave one when it fails. Never throws.
  void rollback() noexcept;

  void listen(const std::string& channel);
  // Takes the notifications that have arrived. Does not wait.
  void drain();
  // The payloads of the notifications that have arrived since the last call.
  std::vector<std::string> take_heard() noexcept { return std::exchange(heard_, {}); }
  int socket() const noexcept { return socket_.get(); }

  // Any thread may call this while the object lives. The running statement fails as unreachable, and so do
  // all that follow.
  void interrupt() noexcept;

 private:
  void break_connection() noexcept;
  void prepare(const std::string& statement);
  void check_usable(std::string_view doing) const;
  // sent: the statement may have reached the server, so its outcome is unknown if the connection broke.
  [[noreturn]] void fail(const std::exception& cause, std::string_view doing, bool sent);

  template <class Work>
  postgres_rows guarded(std::string_view doing, const Work& run) {
    check_usable(doing);
    try {
      pqxx::nontransaction work{*connection_};
      return postgres_rows{run(work)};
    } catch (const std::exception& cause) {
      fail(cause, doing, true);
    }
  }

  const postgres_conninfo& conninfo_;
  const sql_catalog& catalog_;
  std::string warning_;  // the server's latest warning, which may say why it ends the session
  std::unique_ptr<pqxx_compat::connection> connection_;
  // A duplicate, so that interrupt() cannot hit a number that libpq has closed and another file has reused.
  owned_fd socket_;
  // Behind a pooler: the script with which each transaction begins. Empty: there is no pooler, and the session keeps
  // its settings.
  std::optional<std::string> settings_;
  std::set<std::string, std::less<>> prepared_;
  std::vector<std::unique_ptr<pqxx_compat::receiver>> receivers_;
  std::vector<std::string> heard_;
  bool broken_ = false;
};

}  // namespace rowlock::store
