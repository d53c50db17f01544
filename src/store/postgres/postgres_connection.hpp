// One connection: prepared queries by name, scripts, errors in rowlock's words, and a way to break it from
// another thread. Behind a pooler that gives each transaction another session nothing is prepared or set for
// longer: each script then begins with the settings, and queries have their arguments written into them.
#pragma once

#include "store/connect_watch.hpp"
#include "store/postgres/owned_fd.hpp"
#include "store/postgres/postgres_conninfo.hpp"
#include "store/postgres/postgres_error.hpp"
#include "store/postgres/postgres_literal.hpp"
#include "store/postgres/pqxx_compat.hpp"
#include "store/sql_catalog.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::store {

class postgres_connection {
 public:
  // Connects; sets nothing.
  postgres_connection(const postgres_conninfo& conninfo, const sql_catalog& catalog, connect_watch& watch);
  ~postgres_connection();

  // The session at the other end changes with each transaction. The settings are a script.
  void set_pooled(std::string settings) { settings_ = std::move(settings); }
  bool is_pooled() const noexcept { return settings_.has_value(); }
  // Whether libpq and the server name the same backend. Asks the server.
  bool has_own_backend(std::chrono::milliseconds limit);

  // What a script begins with that opens a transaction, and one that does not: then its statements are one.
  // Both are due again behind a COMMIT.
  std::string begin() const { return "BEGIN;\n" + settings(); }
  std::string settings() const { return settings_.value_or(""); }

  // Runs a query of the catalog in a transaction of its own. Arguments are texts.
  template <class... Args>
  pqxx::result call(const std::string& query, const Args&... args) {
    if (is_pooled()) return script(query, settings() + execute(query, args...));
    prepare(query);
    return guarded(query, [&](pqxx::nontransaction& work) { return work.exec_prepared(query, args...); });
  }

  // The same once, without preparing it.
  template <class... Args>
  pqxx::result call_once(const std::string& query, const Args&... args) {
    if (is_pooled()) return script(query, settings() + execute(query, args...));
    return guarded(query,
                   [&](pqxx::nontransaction& work) { return work.exec_params(catalog_[query], args...); });
  }

  // "EXECUTE query(arguments);" for a script: several statements in one round trip, each with a snapshot of
  // its own, in one transaction. Its last statement's result is the answer.
  template <class... Args>
  std::string execute(const std::string& query, const Args&... args) {
    if (is_pooled()) {
      const std::vector<std::string> arguments{std::string(args)...};
      return with_arguments(catalog_[query], arguments) + ";\n";
    }
    prepare(query);
    std::string text = "EXECUTE \"" + query + '"';
    if constexpr (sizeof...(args) > 0) {
      char separator = '(';
      ((text += separator, text += connection_->quote(std::string(args)), separator = ','), ...);
      text += ')';
    }
    return text + ";\n";
  }

  pqxx::result script(std::string_view doing, const std::string& sql);
  // For a script that leaves a transaction open, or may leave one when it fails. Never throws.
  void rollback() noexcept;

  // Listens on a channel.
  void listen(const std::string& channel);
  // Takes what has arrived. Does not wait.
  void drain();
  // The payloads of the notifications that have arrived since.
  std::vector<std::string> take_heard() noexcept { return std::exchange(heard_, {}); }
  int socket() const noexcept { return socket_.get(); }

  // Any thread, while this object lives: what runs now fails as unreachable, and so does all that follows.
  void interrupt() noexcept;

 private:
  class receiver;

  void break_generation() noexcept;
  void prepare(const std::string& query);
  void check_usable(std::string_view doing) const;
  // sent: a broken connection leaves the outcome unknown.
  [[noreturn]] void fail(const std::exception& cause, std::string_view doing, bool sent);

  template <class Work>
  pqxx::result guarded(std::string_view doing, const Work& run) {
    check_usable(doing);
    try {
      pqxx::nontransaction work{*connection_};
      return run(work);
    } catch (const std::exception& cause) {
      fail(cause, doing, true);
    }
  }

  const postgres_conninfo& conninfo_;
  const sql_catalog& catalog_;
  std::unique_ptr<pqxx_compat::connection> connection_;
  // A duplicate, so that interrupt() cannot hit a number which libpq has closed and another file has taken.
  owned_fd socket_;
  std::optional<std::string> settings_;  // of each transaction; empty: those of the session
  std::set<std::string, std::less<>> prepared_;
  std::vector<std::unique_ptr<receiver>> receivers_;
  std::vector<std::string> heard_;
  bool broken_ = false;
};

}  // namespace rowlock::store
