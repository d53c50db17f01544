// Notices writes to a database file, without reading it. A write is a hint, never a proof, that there was a
// commit.
#pragma once

#include "store/waker.hpp"

#include <chrono>
#include <string>

namespace rowlock::store {

// Used by one thread at a time, except end_wait().
class sqlite_watch {
 public:
  // database: the path of the file. log: the path of its -wal file, which may be missing for now.
  // Throws error(unreachable) when the process has no descriptor left.
  sqlite_watch(std::string database, std::string log);

  // Begins to watch, unless it watches already. Before that, listens() is false.
  void start();
  // Gives the inotify instance back, until the next start().
  void stop() noexcept;
  // Whether writes are noticed. If they are not, because no inotify instance is left or the file system is on
  // a network, the caller must poll.
  bool listens() const noexcept { return inotify_.get() >= 0; }

  enum class event { timeout, woken, written };
  // Returns at the first event, or at the deadline.
  event wait_until(std::chrono::steady_clock::time_point deadline);
  // As wait_until(), but ignores writes: a pause that end_wait() ends.
  event pause_until(std::chrono::steady_clock::time_point deadline);
  void end_wait() noexcept { waker_.end_wait(); }

 private:
  event wait_for(bool writes, std::chrono::steady_clock::time_point deadline);
  bool drain();
  void watch_log();

  std::string database_;
  std::string log_;
  waker waker_;
  owned_fd inotify_;
  int log_watch_ = -1;
  bool started_ = false;
};

}  // namespace rowlock::store
