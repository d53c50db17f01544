// The file behind a database: which one it is, and whether it is still there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace rowlock::store {

enum class missing_file : std::uint8_t { refuse, create };

// "sqlite:" and a path, or the path alone; made absolute.
std::string sqlite_file_path(std::string_view url_or_path);

// Throws a rowlock::error that says what is wrong with the file, before SQLite says something vaguer:
// not_migrated when it is missing and must not be, unreachable when its folder is, invalid_argument when it
// is no file, privilege, read_only. Opens nothing: to close a descriptor of the file would drop SQLite's
// locks on it.
void check_sqlite_file(const std::string& path, missing_file missing, bool read_only = false);

// A file to which nobody writes: its log is missing, or empty. So it can be read by whoever may not make the
// files that SQLite keeps beside it for readers and writers.
class quiet_sqlite_file {
 public:
  // Throws error(privilege) or error(read_only) when its log holds something: that cannot be read then.
  explicit quiet_sqlite_file(std::string path);

  // Whether somebody has written since: what was read meanwhile may be half of one state and half of another.
  bool changed() const noexcept;
  // For SQLite to open it without any lock or file beside it.
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

  // Of the file, not of its content: a copy, or a backup moved into its place, has another one.
  const std::string& identity() const noexcept { return identity_; }
  // Whether the path leads to another file now, or to none. Cheap.
  bool replaced() const noexcept;

 private:
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::string identity_;
};

}  // namespace rowlock::store
