// The file behind a database: which one it is, and whether it still exists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace rowlock::store {

enum class missing_file : std::uint8_t { refuse, create };

// "sqlite:" and a path, or the path alone; made absolute.
std::string sqlite_file_path(std::string_view url_or_path);

// Throws a rowlock::error that describes the problem with the file more precisely than SQLite would: not_migrated if it
// is missing and must exist, unreachable if its folder is missing, invalid_argument if it is not a file, privilege,
// read_only. Opens nothing, because closing a descriptor of the file would drop SQLite's locks on it.
void check_sqlite_file(const std::string& path, missing_file missing, bool read_only = false);

// A file to which nobody writes: its log is missing or empty. A user who may not create SQLite's files beside
// it can therefore read it.
class quiet_sqlite_file {
 public:
  // Throws error(privilege) or error(read_only) if its log is not empty: then the log cannot be read.
  explicit quiet_sqlite_file(std::string path);

  // Whether somebody has written since. What was read meanwhile may then mix two states.
  bool changed() const noexcept;
  // Lets SQLite open it without any lock or file beside it.
  std::string uri() const;

 private:
  bool has_log() const noexcept;

  std::string path_;
  struct stat status_ {};
};

// The file that stands at a path.
class sqlite_file {
 public:
  // Throws error(unreachable) when there is none.
  explicit sqlite_file(std::string path);

  // Identifies the file, not its content: a copy, or a backup moved into its place, has another identity.
  const std::string& identity() const noexcept { return identity_; }
  // Whether the path now leads to another file, or to none. Cheap.
  bool replaced() const noexcept;

 private:
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::string identity_;
};

}  // namespace rowlock::store
