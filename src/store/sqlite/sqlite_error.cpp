#include "store/sqlite/sqlite_error.hpp"

#include "store/missing_object.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace rowlock::store {
namespace {

struct meaning {
  errc code;
  std::string_view advice;
};

meaning meaning_of(int code, std::string_view said, const sql_catalog& catalog) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {errc::contention,
              "another connection has kept the write lock for too long; keep write transactions short"};
    case SQLITE_NOMEM: return {errc::unreachable, "there was no memory for it"};
    case SQLITE_INTERRUPT: return {errc::unreachable, "the statement was interrupted"};
    case SQLITE_CANTOPEN:
      return {
          errc::unreachable,
          "the file, or the -wal and -shm files that SQLite keeps beside it, cannot be opened; check that "
          "the folder exists and is writable for this user"};
    case SQLITE_READONLY:
      return {errc::read_only,
              "rowlock must write; check the permissions of the file, of its -wal and -shm files and of the "
              "folder, and that the file system is not mounted read-only"};
    case SQLITE_AUTH:
    case SQLITE_PERM: return {errc::privilege, "check the permissions of the file and of its folder"};
    case SQLITE_NOTADB:
      return {errc::invalid_argument, "the file is not an SQLite database; check the path in the URL"};
    case SQLITE_CORRUPT:
      return {errc::database, "the file is damaged; restore it from a backup, then run: rowlock epoch raise"};
    case SQLITE_FULL: return {errc::database, "the disk is full"};
    case SQLITE_IOERR: return {errc::database, "the disk failed to read or write"};
    default: break;
  }
  if (said.find("no such table") != std::string_view::npos ||
      said.find("no such column") != std::string_view::npos) {
    if (!names_rowlocks_own(said, catalog)) return {errc::database, check_the_triggers};
    return {errc::not_migrated, "rowlock's tables are missing or too old; run: rowlock migrate up"};
  }
  return {errc::database, ""};
}

}  // namespace

error sqlite_error(int code, std::string_view said, std::string_view path, const sql_catalog& catalog,
                   bool outcome_unknown) {
  const auto [kind, advice] = meaning_of(code, said, catalog);
  // An interrupted statement got no answer.
  const bool unknown = outcome_unknown || (code & 0xFF) == SQLITE_INTERRUPT;
  return error(
      kind,
      fmt::format("SQLite says of {}: {} ({}){}{}", path, said, code, advice.empty() ? "" : "; ", advice),
      std::to_string(code), unknown);
}

}  // namespace rowlock::store
