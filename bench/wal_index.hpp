// SQLite's WAL index, the "-shm" file: the only place where the database itself counts its commits.
// Layout: https://sqlite.org/walformat.html, "The WAL-Index Header".
#pragma once

#include <cstdint>
#include <string>

namespace rowlock::bench {

struct wal_index {
  std::uint32_t commits = 0;  // iChange: goes up by one with each committed write transaction
  std::uint32_t frames = 0;   // mxFrame: pages in the WAL; begins anew after a checkpoint
};

// Requires: the database is in WAL mode and a connection has it open. Throws std::system_error.
wal_index read_wal_index(const std::string& database_path);

}  // namespace rowlock::bench
