// SQL files that were compiled in (cmake/EmbedSql.cmake).
#pragma once

#include <span>
#include <string_view>

namespace rowlock::embedded {

struct file {
  std::string_view name;  // without folder and ".sql"
  std::string_view text;
  std::string_view
      checksum;  // sha-256 of the file, hex; taken at build time, so that no library is needed for it
};

std::span<const file> postgres_queries();
std::span<const file> postgres_migrations();
std::span<const file> mysql_queries();
std::span<const file> mysql_migrations();
std::span<const file> sqlite_queries();
std::span<const file> sqlite_migrations();

}  // namespace rowlock::embedded
