// The file behind a database: which file it is, and whether all programs that use the database use the same
// one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace rowlock::store {

enum class missing_file : std::uint8_t { refuse, create };

// The absolute path of a database that is given as "sqlite:" and a path, or as the path alone.
std::string sqlite_file_path(std::string_view url_or_path);

// Throws a rowlock::error that describes the problem with the file more precisely than SQLite would:
// not_migrated if the file is missing and must exist, unreachable if its folder is missing, invalid_argument
// if the path leads to something else than a file, privilege, read_only. Opens nothing, because closing a
// descriptor of the file would drop SQLite's locks on it.
void check_sqlite_file(const std::string& path, missing_file missing, bool read_only = false);

// SQLite keeps its log (-wal) and its shared memory (-shm) beside the name by which the file was opened. Two
// programs that use different names of one file, or one of which has had its side files deleted, do not see
// each other's changes.
struct sqlite_names {
  // Throws nothing: if the system does not tell, `links` is 1 and `is_mount_point` is false.
  explicit sqlite_names(const std::string& path) noexcept;

  std::uint64_t links = 1;      // hard links
  bool is_mount_point = false;  // the file itself is, as when a container mounts a single file
};

// Throws error(invalid_argument) if the file has several names or is a mount point, and error(unreachable) if
// this process has side files of it open that were deleted: all connections of a process share the -shm file,
// so a new connection would use the deleted one.
void check_sqlite_names(const std::string& path);

// A file to which nobody writes: its log is missing or empty. So even a user who may not create SQLite's
// files beside it can read it.
class quiet_sqlite_file {
 public:
  // Throws error(privilege) or error(read_only) if the file's log is not empty, because this user cannot read
  // a log.
  explicit quiet_sqlite_file(std::string path);

  // Whether somebody has written since the constructor. If so, the rows read meanwhile may mix two states.
  bool changed() const;
  // The name by which SQLite opens the file without taking a lock or making a file beside it.
  std::string uri() const;

 private:
  bool has_log() const;

  std::string path_;
  struct stat status_ {};
};

// The processes that have the file open, and with it a -wal or -shm file that was deleted. Finds only
// processes that this user may look into.
std::vector<int> processes_without_side_files(const std::string& path);

// The file that stands at a path, and the side files of a connection to it.
class sqlite_file {
 public:
  // Throws error(unreachable) when there is none.
  explicit sqlite_file(std::string path);

  // From now on flaw() also notices when a side file was deleted or replaced. Call this when a connection of
  // this process has them open. log: the path of the -wal file. Throws error(unreachable) if the side files
  // at their paths are not those that this process has open.
  void watch_side_files(const std::string& log);

  // Identifies the file, not its content: a copy, or a backup moved into its place, has another identity.
  const std::string& identity() const noexcept { return identity_; }
  // What separates the connection from those that open the file now: the path leads to another file or to
  // none, the file has a second name, or a side file is gone. Null if nothing does. Costs three calls of
  // stat() at most.
  const char* flaw() const noexcept;

 private:
  // inode: the file's number on its device. 0: the file is missing.
  struct side_file {
    std::string path{};
    std::uint64_t inode = 0;
  };

  bool is_open(const side_file& file) const;

  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::string identity_;
  std::array<side_file, 2> side_files_{};  // without paths: none are watched
};

}  // namespace rowlock::store
