// The floor: how fast the same database is for a program that locks with plain updates, without rowlock. It
// uses the driver directly, and one table of its own, <prefix>bench_floor, which it creates and drops.
#pragma once

#include "bench/scenario.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::bench {

// One connection with prepared statements and a row of its own. Used by one thread at a time.
class floor_connection {
 public:
  floor_connection() = default;
  floor_connection(const floor_connection&) = delete;
  floor_connection& operator=(const floor_connection&) = delete;
  virtual ~floor_connection() = default;

  virtual void update() = 0;  // one durable single-row update
  // Updates `rows` rows, at most floor_rows, in one durable transaction.
  virtual void update_together(int rows) = 0;
  // Inserts and deletes a row, as for a reader or the holder of a permit: two durable statements. Nothing is
  // counted in a shared row, so nobody is excluded.
  virtual void insert_and_delete() = 0;
  void pair() {
    update();
    update();
  }
};

class floor_database {
 public:
  floor_database() = default;
  floor_database(const floor_database&) = delete;
  floor_database& operator=(const floor_database&) = delete;
  virtual ~floor_database() = default;  // drops the table

  // Throws the driver's exception if the server has no connection left.
  virtual std::unique_ptr<floor_connection> connect(int row) = 0;

  // Begins a transaction that keeps its snapshot of the database until the returned object is destroyed.
  virtual std::shared_ptr<void> open_snapshot() = 0;

  // The settings that decide whether a commit is durable, as the server reports them.
  virtual std::string durability() = 0;

  // A counter that began at an arbitrary value; only differences have a meaning. What the counting itself causes is
  // left out. PostgreSQL: statements (or transactions) of this database. MariaDB: statements of the server. SQLite:
  // committed write transactions of the file.
  virtual std::int64_t activity() = 0;
  virtual std::string activity_name() = 0;

  // Written rows of rowlock's tables; on MariaDB of all tables of the server. SQLite has no counter: the floor compares
  // all rows with those of the previous call, so a row that changed twice between two calls counts once.
  virtual std::int64_t rows_written() = 0;
  virtual std::string rows_written_name() = 0;
  // Drops what is left after the migrator has reverted everything: its ledger, and SQLite's file.
  virtual void drop_remains() = 0;

  // The server's main process; the other ones are its children. Empty if there is no server, it is not on this machine,
  // or it cannot be found.
  virtual std::optional<pid_t> server_process() { return {}; }
  // The bytes of the server's log of writes until now; only differences have a meaning. Empty if it does not count them.
  virtual std::optional<std::int64_t> wal_bytes() { return {}; }

  // How long after it became idle a connection may publish its counts.
  virtual std::chrono::seconds counts_within() const { return std::chrono::seconds{0}; }
};

// Connects and creates the table. Throws rowlock::error(invalid_argument) for a store that is not built in.
std::unique_ptr<floor_database> open_floor(const plan& plan);

std::unique_ptr<floor_database> open_postgres_floor(const plan& plan);
std::unique_ptr<floor_database> open_mysql_floor(const plan& plan);
std::unique_ptr<floor_database> open_sqlite_floor(const plan& plan);

// Throws unless a statement of the floor found its row.
void require_one_row(std::int64_t rows);

bool is_sqlite(const plan& plan);
bool is_mysql(const plan& plan);

inline constexpr int floor_rows = 64;
// The number of the row that is inserted and deleted, unlike the row `row`, which stays.
constexpr int passing_row(int row) {
  return floor_rows + row;
}

}  // namespace rowlock::bench
