#include "store/sqlite/sqlite_file.hpp"

#include <rowlock/error.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>

namespace rowlock::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view scheme = "sqlite:";
constexpr std::string_view log_suffix = "-wal";
constexpr std::string_view shared_memory_suffix = "-shm";

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
  throw error(errc::not_migrated, fmt::format("there is no file {0}; to create it with rowlock's tables run: "
                                              "rowlock --url sqlite:{0} migrate up",
                                              path));
}

void check_folder(const std::string& folder, bool read_only) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == EACCES) refuse_access("the folder", folder, errno, read_only);
    throw error(errc::unreachable,
                fmt::format("the folder {} cannot be found: {}; create it, or correct the path in the URL",
                            folder, std::strerror(errno)));
  }
  // Asks for the effective user, as open() does.
  if (::faccessat(AT_FDCWD, folder.c_str(), read_only ? X_OK : W_OK | X_OK, AT_EACCESS) != 0) {
    refuse_access("the folder", folder, errno, read_only);
  }
}

// Refuses a file that has several names or is a mount point. The error says why, and what to do.
void check_names(const std::string& path) {
  const sqlite_names names{path};
  if (names.links > 1) {
    throw error(
        errc::invalid_argument,
        fmt::format("the file {0} has {1} names (hard links), and programs that open it by different names "
                    "do not see each other's locks; find the others with find -samefile {0}, and delete "
                    "all names but one; where a second name is needed, make a symbolic link",
                    path, names.links));
  }
  if (names.is_mount_point) {
    throw error(errc::invalid_argument,
                fmt::format("the file {} is itself a mount point, "
                            "so programs outside of this container or mount "
                            "do not see the -wal and -shm files beside it, nor the locks; "
                            "mount its folder instead",
                            path));
  }
}

// Calls `use` with each descriptor of a process, as a path below `process`, its folder of /proc, and with the
// path of the file that the descriptor leads to. Does nothing if this user may not read the folder. This does
// not use std::filesystem, because libstdc++'s directory_iterator ends the program if memory runs out.
void for_each_descriptor(const fs::path& process,
                         const std::function<void(const fs::path&, const std::string&)>& use) {
  const auto close = [](DIR* folder) { ::closedir(folder); };
  const auto name = (process / "fd").string();
  const std::unique_ptr<DIR, decltype(close)> folder{::opendir(name.c_str()), close};
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto descriptor = name + '/' + entry->d_name;
    std::array<char, PATH_MAX> leads_to{};
    const auto length = ::readlink(descriptor.c_str(), leads_to.data(), leads_to.size());
    if (length > 0) use(descriptor, {leads_to.data(), static_cast<std::size_t>(length)});
  }
}

// The name of a side file of this database that was deleted although a process has it and the database open.
// Empty: there is none. `process` is the folder of the process in /proc. If the process also has an earlier
// database of the same name open, which was deleted too, the side file is taken for that one's and does no
// harm.
std::string deleted_side_file(const fs::path& process, const std::string& database) {
  std::string deleted;
  bool has_database = false;
  bool has_earlier = false;
  struct stat status {};
  if (::stat(database.c_str(), &status) != 0) return {};
  for_each_descriptor(process, [&](const fs::path& descriptor, const std::string& text) {
    if (!text.starts_with(database)) return;
    struct stat opened {};
    const auto rest = std::string_view{text}.substr(database.size());
    if (rest == "-wal (deleted)" || rest == "-shm (deleted)") deleted = text;
    has_earlier = has_earlier || rest == " (deleted)";
    has_database = has_database || (rest.empty() && ::stat(descriptor.c_str(), &opened) == 0 &&
                                    opened.st_dev == status.st_dev && opened.st_ino == status.st_ino);
  });
  return has_database && !has_earlier ? deleted : std::string{};
}

// Refuses a new connection while this process has a deleted side file open. All connections of a process to a
// file share its -shm file, so the new one would combine a deleted -shm file with a new -wal file, or the
// reverse, and read nonsense.
void check_side_files(const std::string& path) {
  std::error_code missing;
  const auto deleted = deleted_side_file("/proc/self", fs::canonical(path, missing).string());
  if (missing || deleted.empty()) return;
  throw error(errc::unreachable,
              fmt::format("a file beside {} was deleted while this process had it open, "
                          "and with it what was written last: {}; "
                          "rowlock connects when this process has closed all its connections to the database",
                          path, deleted));
}

std::uint64_t inode_at(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
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

void check_sqlite_names(const std::string& path) {
  check_names(path);
  check_side_files(path);
}

sqlite_names::sqlite_names(const std::string& path) noexcept {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_NLINK, &status) != 0) return;
  if ((status.stx_mask & STATX_NLINK) != 0) links = status.stx_nlink;
  is_mount_point = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

std::vector<int> processes_without_side_files(const std::string& path) {
  std::vector<int> found;
  std::error_code failed;
  const auto real = fs::canonical(path, failed).string();
  if (failed) return found;
  for (fs::directory_iterator process{"/proc", failed}, end; !failed && process != end;
       process.increment(failed)) {
    const int id = std::atoi(process->path().filename().c_str());
    if (id > 0 && !deleted_side_file(process->path(), real).empty()) found.push_back(id);
  }
  std::ranges::sort(found);
  return found;
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

bool quiet_sqlite_file::has_log() const {
  struct stat log {};
  return ::stat((path_ + "-wal").c_str(), &log) == 0 && log.st_size > 0;
}

bool quiet_sqlite_file::changed() const {
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

void sqlite_file::watch_side_files(const std::string& log) {
  const auto database = log.substr(0, log.size() - log_suffix.size());
  side_files_ = {side_file{log, inode_at(log)},
                 side_file{database + std::string{shared_memory_suffix},
                           inode_at(database + std::string{shared_memory_suffix})}};
  check_side_files(path_);
  if (std::ranges::all_of(side_files_, [this](const side_file& file) { return is_open(file); })) return;
  throw error(
      errc::unreachable,
      fmt::format("the -wal or -shm file of {} was replaced while it was opened; rowlock reconnects", path_));
}

// Whether this process has the side file open; true if /proc does not say.
bool sqlite_file::is_open(const side_file& file) const {
  const auto name = fs::path{file.path}.filename();
  bool knows = false;
  bool found = false;
  for_each_descriptor("/proc/self", [&](const fs::path& descriptor, const std::string& text) {
    knows = true;
    struct stat opened {};
    found = found || (fs::path{text}.filename() == name && ::stat(descriptor.c_str(), &opened) == 0 &&
                      opened.st_ino == file.inode);
  });
  return found || !knows;
}

const char* sqlite_file::flaw() const noexcept {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0 || status.st_dev != device_ || status.st_ino != inode_)
    return "was replaced or removed while it was open";
  if (status.st_nlink > 1)
    return "has another name now (a hard link), by which others would not see its locks";
  const auto is_other = [](const side_file& file) {
    return !file.path.empty() && inode_at(file.path) != file.inode;
  };
  if (is_other(side_files_[0]))
    return "has lost its -wal file, which was deleted or replaced while it was open";
  if (is_other(side_files_[1]))
    return "has lost its -shm file, which was deleted or replaced while it was open";
  return nullptr;
}

}  // namespace rowlock::store
