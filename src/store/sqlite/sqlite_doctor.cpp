// Reads what `rowlock doctor` judges.
#include "store/backends.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_schema.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>

namespace rowlock::store {

namespace {

struct file_system {
  std::uint32_t number;  // as statfs(2) lists them
  const char* name;
  const char* kind;
};

constexpr file_system file_systems[] = {
    {0x6969, "nfs", "network"},       {0x517B, "smb", "network"},        {0xFF534D42, "cifs", "network"},
    {0xFE534D42, "smb2", "network"},  {0x01021997, "9p", "network"},     {0x5346414F, "afs", "network"},
    {0x00C36400, "ceph", "network"},  {0x0BD00BD0, "lustre", "network"}, {0x47504653, "gpfs", "network"},
    {0x7461636F, "ocfs2", "network"}, {0x01161970, "gfs2", "network"},   {0x65735546, "fuse", "fuse"},
    {0x01021994, "tmpfs", "memory"},  {0x858458F6, "ramfs", "memory"},
};

void read_file_system(server_facts& facts, const std::string& path) {
  struct statfs status {};
  const auto folder = std::filesystem::path{path}.parent_path().string();
  if (::statfs(folder.c_str(), &status) != 0) return facts.set_unknown("file_system_kind", "statfs() fails");
  facts.set("file_system_kind", "disk");
  for (const auto& known : file_systems) {
    if (known.number != static_cast<std::uint32_t>(status.f_type)) continue;
    facts.set("file_system", known.name);
    facts.set("file_system_kind", known.kind);
  }
}

bool may_write(const std::string& path) {
  const auto folder = std::filesystem::path{path}.parent_path().string();
  return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0 &&
         ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

// Whether the file's header says so. SQLite itself says "delete" of such a file where it may write nothing, because it
// then reads the file alone. The byte is read through SQLite's own descriptor: to close another one would drop all
// locks that this process has on the file.
bool keeps_log(const sqlite_connection& connection) {
  constexpr sqlite3_int64 format_version = 18;
  constexpr unsigned char with_log = 2;
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  unsigned char found = 0;
  return file && file->pMethods && file->pMethods->xRead(file, &found, 1, format_version) == SQLITE_OK &&
         found == with_log;
}

}  // namespace

server_facts read_sqlite_facts(const std::string& url_or_path, const store_options& options) {
  const auto path = sqlite_file_path(url_or_path);
  check_sqlite_file(path, missing_file::create, true);
  server_facts facts;
  facts.set("path", path);
  std::error_code missing_or_hidden;
  const auto real = std::filesystem::canonical(path, missing_or_hidden).string();
  read_file_system(facts, missing_or_hidden ? path : real);
  if (missing_or_hidden) {
    facts.set("schema_version", 0);
    return facts;
  }
  facts.set("may_write", may_write(real) ? "true" : "false");
  const sqlite_names names{path};
  facts.set("names", static_cast<std::int64_t>(names.links));
  facts.set("mount_point", names.is_mount_point ? "true" : "false");
  const auto lost_by = processes_without_side_files(path);
  facts.set("without_side_files", fmt::format("{}", fmt::join(lost_by, ", ")));
  if (names.links > 1 || names.is_mount_point || !lost_by.empty())
    return facts;  // opening the file may do more harm
  const auto log = std::filesystem::file_size(real + "-wal", missing_or_hidden);
  facts.set("log_bytes", missing_or_hidden ? 0 : static_cast<std::int64_t>(log));
  const auto catalog = std::make_shared<const sql_catalog>(embedded::sqlite_queries(), options.prefix);
  sqlite_connection connection{path, catalog, options.statement_timeout, missing_file::refuse, true};
  facts.add(connection.query("doctor_file"));
  if (keeps_log(connection)) facts.set("journal_mode", "wal");
  const auto state = read_schema_state(connection, options.prefix);
  facts.set("schema_version", state.version);
  facts.set("min_library", state.min_library);
  if (state.version > 0) {
    facts.add(connection.query("doctor_leases"));
    facts.add(connection.query("doctor_names"));
  }
  connection.throw_if_written();
  return facts;
}

}  // namespace rowlock::store
