// The migrations as a library: what `rowlock migrate` does.
#pragma once

#include <rowlock/config.hpp>
#include <rowlock/options.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

struct migration {
  int version = 0;
  std::string title;
  std::string checksum;  // sha-256 of the up file as shipped, hex
  std::string up;        // SQL with the prefix put in
  std::string down;
};

struct migration_status {
  int version = 0;
  std::string title;
  bool applied = false;          // meta.schema_version is at or above it
  bool recorded = false;         // rowlock's ledger has it
  bool checksum_matches = true;  // of a recorded one
  std::string applied_at;        // UTC, ISO 8601; empty when not recorded
};

// The migrations that this version ships for a dialect, by version: "postgres" or "postgresql", "mysql" or
// "mariadb", "sqlite".
// Throws error(invalid_argument) for an unknown dialect, or a prefix that is not [a-z_][a-z0-9_]{0,30}.
ROWLOCK_EXPORT std::vector<migration> shipped_migrations(const std::string& dialect,
                                                         const std::string& prefix = "rowlock_");

// The schema version that this library needs.
ROWLOCK_EXPORT int required_schema_version() noexcept;

// One database's schema. Uses one connection. Not for concurrent use; two migrators, in any processes, are
// safe. Only settings.prefix, schema and the timeouts are used. Throws error: invalid_argument, unreachable,
// authentication, privilege, read_only, schema, too_new.
class ROWLOCK_EXPORT migrator {
 public:
  explicit migrator(const std::string& url, const options& settings = {});
  ~migrator();
  migrator(const migrator&) = delete;
  migrator& operator=(const migrator&) = delete;

  std::vector<migration_status> status();

  // Each returns what it did, or with dry_run would do, in order; nothing to do is an empty list.
  // up: to `to`, or the newest. Refuses a ledger whose checksums differ from the shipped files.
  std::vector<migration> up(std::optional<int> to = {}, bool dry_run = false);
  // down: to `to`, or one step. Refuses while leases live, and version 0 without destroy_tokens: the tokens
  // would begin again, and old ones be taken for new.
  std::vector<migration> down(std::optional<int> to = {}, bool destroy_tokens = false, bool dry_run = false);
  // Writes ledger entries for migrations that another tool has applied.
  std::vector<migration> adopt(bool dry_run = false);

  // What differs between the database and this version: missing tables and columns, checksums, versions.
  // Empty: all well.
  std::vector<std::string> verify();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

ROWLOCK_END_NAMESPACE
