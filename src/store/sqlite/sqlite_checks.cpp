#include "store/check.hpp"

namespace rowlock::store {

std::span<const check> sqlite_checks() {
  static const check checks[] = {
      {.code = "network-file-system",
       .level = severity::error,
       .when = fact("file_system_kind").is("network"),
       .found = "{path} is on a network file system ({file_system})",
       .why = "File locks do not work reliably there, so two clients may write at once: "
              "two holders, or a damaged file.",
       .remedy = "move the file to a disk of this machine, or use PostgreSQL, MariaDB or MySQL"},
      {.code = "network-file-system",
       .level = severity::unknown,
       .when = fact("file_system_kind").is("fuse"),
       .found = "{path} is on a file system that a program provides (FUSE), perhaps over a network (sshfs)",
       .why = "If it is over a network, file locks do not work reliably: two holders, or a damaged file.",
       .remedy = "see what is mounted there (findmnt -T), and keep the file on a disk of this machine"},
      {.code = "hard-links",
       .level = severity::error,
       .when = fact("names").is_at_least(2),
       .found = "{path} has {names} names (hard links)",
       .why = "SQLite keeps its log beside the name by which a file was opened: "
              "programs that use different names would not see each other's locks. rowlock refuses the file.",
       .remedy = "find the names with find -samefile {path}, and delete all but one; "
                 "where a second name is needed, make a symbolic link"},
      {.code = "mounted-file",
       .level = severity::error,
       .when = fact("mount_point").is("true"),
       .found = "{path} is itself a mount point",
       .why = "Programs outside of this container or mount do not see the -wal and -shm files beside it, "
              "nor the locks. rowlock refuses the file.",
       .remedy = "mount the folder that contains it instead"},
      {.code = "side-files-deleted",
       .level = severity::error,
       .when = fact("without_side_files").is_not(""),
       .found = "a -wal or -shm file of {path} was deleted while a process has it open "
                "(pid {without_side_files})",
       .why = "That process and others do not see each other's locks, "
              "and what was written last is lost, with the latest tokens.",
       .remedy = "end that process, find out what deletes the files, and run: rowlock epoch raise"},
      {.code = "file-in-memory",
       .level = severity::warning,
       .when = fact("file_system_kind").is("memory"),
       .found = "{path} is on a file system in memory ({file_system})",
       .why = "The file is gone after a restart of the machine. "
              "Then tokens start again, and old ones may be mistaken for new ones.",
       .remedy = "move the file to a disk"},
      {.code = "journal-mode",
       .level = severity::warning,
       .when = fact("journal_mode").is_not("wal") && fact("schema_version").is_at_least(1),
       .found = "journal_mode is {journal_mode}",
       .why = "Readers and the writer block each other, so renewals may come late and holds be lost.",
       .remedy = "sqlite3 {path} 'PRAGMA journal_mode = WAL'"},
      {.code = "old-transaction",
       .level = severity::warning,
       .when = fact("log_bytes").is_at_least(64 << 20),
       .found = "{path}-wal has {log_bytes} bytes",
       .why = "A long read transaction prevents the log from being reused; "
              "every statement searches a longer log and becomes slower.",
       .remedy = "end that transaction, then: sqlite3 {path} 'PRAGMA wal_checkpoint(TRUNCATE)'"},
      {.code = "looks-only",
       .level = severity::note,
       .when = fact("may_write").is("false"),
       .found = "this user may not write {path} or its folder",
       .why = only_reads,
       .remedy = "if programs run as this user, let it write the file and its folder"},
  };
  return checks;
}

}  // namespace rowlock::store
