// The migrations as a library: what `rowlock migrate` does.
#pragma once

#include <rowlock/options.hpp>

#include <memory>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

struct migration {
  int version = 0;
  std::string title;
  std::string checksum;  // hexadecimal SHA-256 of the up file as shipped
  std::string up;        // SQL, with the prefix inserted
  std::string down;
};

struct migration_status {
  int version = 0;
  std::string title;
  bool applied = false;          // meta.schema_version is this version or a later one
  bool recorded = false;         // rowlock's ledger contains it
  bool checksum_matches = true;  // of a recorded one
  std::string applied_at;        // UTC, ISO 8601; empty if not recorded
};

// The migrations that this version ships for a dialect (postgres or postgresql, mysql or mariadb, sqlite), by version.
// Throws error(invalid_argument) for an unknown dialect, or a prefix that is not [a-z_][a-z0-9_]{0,30}. The prefixes
// `re` and `un` are refused, too: with them a table's name would be a reserved word of SQL.
[[nodiscard]] ROWLOCK_EXPORT std::vector<migration> shipped_migrations(
    const std::string& dialect, const std::string& prefix = "rowlock_");

// The schema version that this library needs.
[[nodiscard]] ROWLOCK_EXPORT int required_schema_version() noexcept;

// One database's schema. Uses one connection. An object is not thread-safe, but migrators in several threads or
// processes may run at the same time. On a server a call that changes something waits for another migrator, without a
// limit. Of the settings only prefix, schema, application, listen_url, read_only and the timeouts are used. A moved-from
// migrator may only be assigned to or destroyed.
// Throws error: invalid_argument, unreachable, authentication, privilege, read_only, schema, too_new; not_migrated if
// the server has no such database; contention if others keep a table, or the file of SQLite, locked for too long, and
// database if the database refuses a statement for another reason. Each file that was completed before an error stays
// applied or reverted; on MariaDB and MySQL also a part of the one that failed. The call may be repeated.
class ROWLOCK_EXPORT migrator {
 public:
  explicit migrator(const std::string& url, const options& settings = {});
  migrator(migrator&& other) noexcept;
  migrator& operator=(migrator&& other) noexcept;
  ~migrator();

  // If the role may not read rowlock's ledger, status() and verify() treat it as missing: nothing is recorded.
  [[nodiscard]] std::vector<migration_status> status();

  // Each of the following returns what it did, or with dry_run would do, in order. Empty: nothing to do.
  //
  // Migrates up to version `to`, by default the newest. Refuses a ledger whose checksums differ from the shipped files.
  std::vector<migration> up(std::optional<int> to = {}, bool dry_run = false);
  // Migrates down to version `to`, by default one step. Refuses while leases live. Refuses version 0 without
  // destroy_tokens: tokens would begin again, and old ones could be taken for new ones.
  std::vector<migration> down(std::optional<int> to = {}, bool destroy_tokens = false, bool dry_run = false);
  // Records migrations that another tool has applied in the ledger.
  std::vector<migration> adopt(bool dry_run = false);

  // How the database differs from this version: missing tables and columns, checksums, versions. Empty: it does not.
  [[nodiscard]] std::vector<std::string> verify();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

ROWLOCK_END_NAMESPACE
