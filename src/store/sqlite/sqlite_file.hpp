// The file behind a database: which one it is, and whether all who use it use the same one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace rowlock::store {

enum class missing_file : std::uint8_t { refuse, create };

// "sqlite:" and a path, or the path alone; made absolute.
std::string sqlite_file_path(std::string_view url_or_path);

// Throws a rowlock::error that describes the problem with the file more precisely than SQLite would: not_migrated if it
// is missing and must exist, unreachable if its folder is missing, invalid_argument if it is not a file, privilege,
// read_only. Opens nothing, because closing a descriptor of the file would drop SQLite's locks on it.
void check_sqlite_file(const std::string& path, missing_file missing, bool read_only = false);

// SQLite keeps its log (-wal) and its shared memory (-shm) beside the name by which the file was opened. Programs that
// use two names of one file, or of which one was deprived of its side files, do not see each other's changes.
struct sqlite_names {
  // Throws nothing: what cannot be found out is 1 and false.
  explicit sqlite_names(const std::string& path) noexcept;

  std::uint64_t links = 1;      // hard links
  bool is_mount_point = false;  // the file itself, as a container's mount of a single file makes it
};

// Throws error(invalid_argument) if the file has several names, and error(unreachable) if this process has side files of
// it open that were deleted: all connections of a process share the -shm file, so a new one would use the deleted one.
void check_sqlite_names(const std::string& path);

// A file to which nobody writes: its log is missing or empty. A user who may not create SQLite's files beside
// it can therefore read it.
class quiet_sqlite_file {
 public:
  // Throws error(privilege) or error(read_only) if its log is not empty: then the log cannot be read.
  explicit quiet_sqlite_file(std::string path);

  // Whether somebody has written since. What was read meanwhile may then mix two states.
  bool changed() const;
  // Lets SQLite open it without any lock or file beside it.
  std::string uri() const;

 private:
  bool has_log() const;

  std::string path_;
  struct stat status_ {};
};

// The processes that have the file open, and a -wal or -shm file beside it that was deleted. Only those that this user
// may look into.
std::vector<int> processes_without_side_files(const std::string& path);

// The file that stands at a path, and the side files of a connection to it.
class sqlite_file {
 public:
  // Throws error(unreachable) when there is none.
  explicit sqlite_file(std::string path);

  // From now on flaw() notices when the side files are others. Call it when a connection of this process has them open.
  // Throws error(unreachable) if they are not those that this process has open.
  void watch_side_files(const std::string& log);

  // Identifies the file, not its content: a copy, or a backup moved into its place, has another identity.
  const std::string& identity() const noexcept { return identity_; }
  // What separates a connection from those that open the file now: the path leads to another file or to none, the file
  // has a second name, or a side file is gone. Null if nothing does. Cheap.
  const char* flaw() const noexcept;
  // Whether nobody has written into the log yet.
  bool has_empty_log() const noexcept;

 private:
  // A file's number on its device. 0: the file is missing.
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
