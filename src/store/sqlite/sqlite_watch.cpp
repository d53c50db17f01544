#include "store/sqlite/sqlite_watch.hpp"

#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

namespace rowlock::store {
namespace {

using clock = std::chrono::steady_clock;

// Whether the file is on a network's file system, where inotify does not notice what other machines write.
bool on_network(const std::string& path) {
  static constexpr std::array<std::uint32_t, 6> network = {
      NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC, CEPH_SUPER_MAGIC, V9FS_MAGIC};
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return false;
  return std::count(network.begin(), network.end(), static_cast<std::uint32_t>(status.f_type)) > 0;
}

std::string name_of(const std::string& path) {
  return std::filesystem::path{path}.filename().string();
}

}  // namespace

sqlite_watch::sqlite_watch(std::string database, std::string log)
    : database_{std::move(database)}, log_{std::move(log)} {}

void sqlite_watch::start() {
  // The constructor does not do this: a user has 128 inotify instances by default, and most sessions never
  // wait.
  if (std::exchange(started_, true) || on_network(database_)) return;
  inotify_ = owned_fd{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  if (!listens()) return;
  // These are two folders if the path is a link: SQLite keeps the log beside the file that the link leads to.
  for (const auto& path : {database_, log_}) {
    const auto folder = std::filesystem::path{path}.parent_path();
    if (::inotify_add_watch(inotify_.get(), folder.c_str(),
                            IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR) < 0) {
      inotify_ = owned_fd{};
      return;
    }
  }
  watch_log();
}

void sqlite_watch::stop() noexcept {
  inotify_ = owned_fd{};
  log_watch_ = -1;
  started_ = false;
}

void sqlite_watch::watch_log() {
  // If there is no log yet, the folder reports its creation.
  log_watch_ = ::inotify_add_watch(inotify_.get(), log_.c_str(), IN_MODIFY);
}

sqlite_watch::event sqlite_watch::wait_until(clock::time_point deadline) {
  return wait_for(true, deadline);
}

sqlite_watch::event sqlite_watch::pause_until(clock::time_point deadline) {
  return wait_for(false, deadline);
}

sqlite_watch::event sqlite_watch::wait_for(bool writes, clock::time_point deadline) {
  for (;;) {
    pollfd sources[] = {waker_.source(), {writes ? inotify_.get() : -1, POLLIN, 0}};
    if (!poll_until(sources, deadline)) return event::timeout;
    if (sources[0].revents != 0) {
      waker_.clear();
      return event::woken;
    }
    if (drain()) return event::written;
  }
}

// Reads all pending events of inotify. Returns whether one of them concerns this database.
bool sqlite_watch::drain() {
  alignas(inotify_event) std::array<char, 8192> buffer;
  const std::string database = name_of(database_);
  const std::string log = name_of(log_);
  const std::string shared_memory = log.substr(0, log.size() - std::string_view{"wal"}.size()) + "shm";
  bool concerned = false;
  for (;;) {
    const auto size = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (size <= 0) return concerned;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* happened = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + happened->len;
      if ((happened->mask & IN_Q_OVERFLOW) != 0 || happened->wd == log_watch_) {
        concerned = true;
      } else if (happened->len > 0) {
        const bool log_changed = log == happened->name;
        if (log_changed) watch_log();
        // The -shm file counts, too: if it is deleted, this process and those that open the database later do
        // not see each other's changes.
        concerned = concerned || log_changed || database == happened->name || shared_memory == happened->name;
      }
    }
  }
}

}  // namespace rowlock::store
