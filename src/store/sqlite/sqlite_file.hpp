// The file behind a database: which one it is, and whether it is still there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowlock::store {

enum class missing_file : std::uint8_t { refuse, create };

// "sqlite:" and a path, or the path alone; made absolute.
std::string sqlite_file_path(std::string_view url_or_path);

// Throws a rowlock::error that says what is wrong with the file, before SQLite says something vaguer:
// not_migrated when it is missing and must not be, unreachable when its folder is, invalid_argument when it
// is no file, privilege, read_only. Opens nothing: to close a descriptor of the file would drop SQLite's
// locks on it.
void check_sqlite_file(const std::string& path, missing_file missing, bool read_only = false);

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
