// The interface between rowlock and a database: verbs that work on batches. Below it there is only SQL and
// the mapping of errors. Time, retry, waiting, batching and every decision are above it, each in one place
// (docs/design.md, "Layers").
//
// Rules that every store keeps (docs/design.md, "Rules for every statement"):
//   - a statement that writes never decides from a row that another transaction may be changing;
//   - lock rows are locked in name order and not waited for: a row that is locked is skipped. hot_row.hpp
//     describes the one exception;
//   - time is the database's clock, read while the row is locked;
//   - the affected rows, matched by hold_id, say what happened;
//   - each verb sees all that was committed before it was called, at whatever node of a cluster: the layers above
//     believe that what is not found is not there. Only what a read-only session reads may be older;
//   - a conflict is a value, never an error and, with that exception, never a line in the server's log.
#pragma once

#include "store/admin_verbs.hpp"
#include "store/connect_watch.hpp"
#include "store/lock_verbs.hpp"
#include "store/wakeup_verbs.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace rowlock::store {

class history_verbs;

// One connection. Used by one thread at a time, except end_wait() and interrupt(), which any thread may call
// while the session lives. Every verb is one round trip where the database allows it, throws rowlock::error,
// and leaves nothing open when it throws. After error(unreachable) the session is broken: destroy it.
class session : public lock_verbs, public admin_verbs, public wakeup_verbs {
 public:
  session() = default;
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  virtual ~session() = default;

  virtual history_verbs& history() = 0;  // history_verbs.hpp

  // Breaks the session, and with it a running verb, which throws error(unreachable) with outcome_unknown.
  virtual void interrupt() noexcept = 0;

  // -- ghosts: a statement of a broken session that the server may still execute --
  // This session's backend, for end_ghost. Empty if the database runs in this process.
  virtual std::string backend() const = 0;
  // Ends this backend of a broken session, if it still lives, and returns whether it is certainly gone.
  virtual bool end_ghost(const std::string& backend) = 0;
};

struct store_options {
  std::string prefix = "rowlock_";
  std::string schema{};  // PostgreSQL only; empty: the connection's search_path decides
  std::string application{};
  std::chrono::milliseconds statement_timeout{5'000};
  std::chrono::milliseconds connect_timeout{5'000};
  bool read_only = false;    // sessions only read, even on a standby
  std::string listen_url{};  // PostgreSQL behind a pooler: a URL past it, for wake-ups
};

// Makes sessions. Thread-safe.
class database {
 public:
  virtual ~database() = default;
  // Throws error: unreachable, authentication, privilege, read_only, not_migrated, too_new; database for a
  // server that rowlock cannot use, and invalid_argument for an SQLite file that it cannot use.
  std::unique_ptr<session> connect() {
    connect_watch nobody;
    return connect(nobody);
  }
  // As connect(). The watch can interrupt the attempt while it waits for the server: for the connection, the
  // login or the first statements.
  virtual std::unique_ptr<session> connect(connect_watch& watch) = 0;
  virtual std::string_view dialect() const noexcept = 0;  // postgres, mysql, sqlite, memory
  // True if the database has one writer at a time, so that a second worker would only wait.
  virtual bool single_writer() const noexcept { return false; }
  // True if the database sends no wake-ups, so that waiters must poll (session::poll_wakeups). Known once a
  // session has connected.
  virtual bool must_poll() const noexcept { return false; }
  // The statement that proves a hold inside the caller's own transaction. Its parameters are the name and the
  // hold's id, as text. It returns one row if the hold is valid.
  virtual std::string guard_sql(model::lock_mode mode) const = 0;
  // If a row lock alone is not enough: a statement to run after guard_sql(), with the same parameters. It
  // changes one row if the hold is valid. Known once a session has connected. Empty: none is needed.
  virtual std::string guard_write_sql(model::lock_mode) const { return {}; }
};

}  // namespace rowlock::store
