// Hears that somebody wrote to a database, without reading it. Hints, never proof.
#pragma once

#include <chrono>
#include <string>

namespace rowlock::store {

// Used by one thread at a time, but for end_wait().
class sqlite_watch {
 public:
  // database: the path of the file. log: that of its -wal file, which may be missing for now.
  // Throws error(internal) when the process has no descriptor left.
  sqlite_watch(std::string database, std::string log);
  ~sqlite_watch();
  sqlite_watch(const sqlite_watch&) = delete;
  sqlite_watch& operator=(const sqlite_watch&) = delete;

  // Begins to watch, if it does not yet. Before that, listens() is false.
  void start();
  // Whether writes are heard. If not (no inotify instance left, a network file system), look now and then.
  bool listens() const noexcept { return inotify_ >= 0; }

  enum class event { timeout, woken, written };
  // Returns at the first event, or at the deadline.
  event wait_until(std::chrono::steady_clock::time_point deadline);
  // The same, deaf to writes: for a pause that end_wait() ends.
  event pause_until(std::chrono::steady_clock::time_point deadline);
  void end_wait() noexcept;

 private:
  event poll_until(std::chrono::steady_clock::time_point deadline, bool for_writes);
  bool drain();
  void watch_log();

  std::string database_;
  std::string log_;
  int wake_ = -1;
  int inotify_ = -1;
  int log_watch_ = -1;
  bool started_ = false;
};

}  // namespace rowlock::store
