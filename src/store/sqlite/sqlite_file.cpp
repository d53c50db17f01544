#include "store/sqlite/sqlite_file.hpp"

#include <rowlock/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rowlock::store {
namespace {

constexpr std::string_view scheme = "sqlite:";

[[noreturn]] void refuse_access(const std::string& what, const std::string& path, int reason,
                                bool read_only) {
  if (read_only) {
    throw error(errc::privilege,
                fmt::format("{} {} cannot be read by this user: {}", what, path, std::strerror(reason)));
  }
  if (reason == EROFS) {
    throw error(errc::read_only,
                fmt::format("{} {} is on a file system that is mounted read-only; rowlock must write there",
                            what, path));
  }
  throw error(
      errc::privilege,
      fmt::format(
          "{} {} cannot be written by this user: {}; SQLite writes the file itself, and -wal and -shm "
          "files beside it",
          what, path, std::strerror(reason)));
}

[[noreturn]] void refuse_missing(const std::string& path) {
  throw error(
      errc::not_migrated,
      fmt::format("there is no file {0}; to create it with rowlock's tables run: rowlock --url sqlite:{0} "
                  "migrate up",
                  path));
}

void check_folder(const std::string& folder, bool read_only) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == EACCES) refuse_access("the folder", folder, errno, read_only);
    throw error(errc::unreachable,
                fmt::format("the folder {} cannot be found: {}; create it, or correct the path in "
                            "the URL",
                            folder, std::strerror(errno)));
  }
  // As the effective user, like open().
  if (::faccessat(AT_FDCWD, folder.c_str(), read_only ? X_OK : W_OK | X_OK, AT_EACCESS) != 0) {
    refuse_access("the folder", folder, errno, read_only);
  }
}

}  // namespace

std::string sqlite_file_path(std::string_view url_or_path) {
  if (url_or_path.starts_with(scheme)) url_or_path.remove_prefix(scheme.size());
  return std::filesystem::absolute(std::filesystem::path{url_or_path}).string();
}

void check_sqlite_file(const std::string& path, missing_file missing, bool read_only) {
  // If the path is a link, the -wal and -shm files are beside the file that it leads to.
  std::error_code missing_or_hidden;
  const auto real = std::filesystem::canonical(path, missing_or_hidden);
  check_folder((missing_or_hidden ? std::filesystem::path{path} : real).parent_path().string(), read_only);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse_access("the file", path, errno, read_only);
    if (missing == missing_file::create) return;
    refuse_missing(path);
  }
  if (!S_ISREG(status.st_mode)) {
    throw error(errc::invalid_argument,
                fmt::format("{} is not a file; name the database file in the URL", path));
  }
  if (::faccessat(AT_FDCWD, path.c_str(), read_only ? R_OK : R_OK | W_OK, AT_EACCESS) != 0)
    refuse_access("the file", path, errno, read_only);
}

quiet_sqlite_file::quiet_sqlite_file(std::string path) : path_{std::filesystem::canonical(path).string()} {
  ::stat(path_.c_str(), &status_);
  if (!has_log()) return;
  const auto folder = std::filesystem::path{path_}.parent_path().string();
  const bool is_mounted_so = ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0 && errno == EROFS;
  throw error(
      is_mounted_so ? errc::read_only : errc::privilege,
      fmt::format("{0}-wal contains changes that are not in {0} yet, and this user cannot read them: SQLite "
                  "must create {0}-shm for that; read as a user who may write to the folder",
                  path_));
}

bool quiet_sqlite_file::has_log() const noexcept {
  struct stat log {};
  return ::stat((path_ + "-wal").c_str(), &log) == 0 && log.st_size > 0;
}

bool quiet_sqlite_file::changed() const noexcept {
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0) return true;
  return has_log() || now.st_ino != status_.st_ino || now.st_size != status_.st_size ||
         now.st_mtim.tv_sec != status_.st_mtim.tv_sec || now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec;
}

std::string quiet_sqlite_file::uri() const {
  std::string result = "file:";
  for (const char c : path_) {
    const bool means_more = c == '%' || c == '?' || c == '#';
    result += means_more ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string{c};
  }
  return result + "?immutable=1";
}

sqlite_file::sqlite_file(std::string path) : path_{std::move(path)} {
  struct statx status {};
  if (::statx(AT_FDCWD, path_.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) {
    throw error(errc::unreachable,
                fmt::format("the file {} cannot be found: {}", path_, std::strerror(errno)));
  }
  device_ = makedev(status.stx_dev_major, status.stx_dev_minor);
  inode_ = status.stx_ino;
  // An inode's number is soon reused after its file was deleted; the birth time distinguishes the two files.
  const bool has_birth = (status.stx_mask & STATX_BTIME) != 0;
  identity_ = fmt::format("{:x}:{:x}:{}.{:09}", device_, inode_, has_birth ? status.stx_btime.tv_sec : 0,
                          has_birth ? status.stx_btime.tv_nsec : 0);
}

bool sqlite_file::replaced() const noexcept {
  struct stat status {};
  return ::stat(path_.c_str(), &status) != 0 || status.st_dev != device_ || status.st_ino != inode_;
}

}  // namespace rowlock::store
