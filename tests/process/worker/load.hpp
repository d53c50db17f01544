// Threads that acquire, add one to what only the lock protects, and release; until told to stop.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::test {

struct load_plan {
  std::string url;
  std::string prefix;
  std::vector<std::string> names;  // used in turn
  int threads = 1;
  int rounds = 0;  // of each thread; 0: until halt()
  bool guarded = false;
};

class load {
 public:
  load(const client& db, load_plan plan);
  ~load();
  load(const load&) = delete;
  load& operator=(const load&) = delete;

  void halt() { halt_.request_stop(); }
  void join();
  // "granted=… written=… …", and what failed. Complete after join().
  std::string report() const;

 private:
  void run(const client& db, int index);
  void failed(const std::string& what);

  load_plan plan_;
  std::stop_source halt_;
  std::atomic<std::int64_t> granted_{0};
  std::atomic<std::int64_t> written_{0};
  std::atomic<std::int64_t> lost_{0};        // holds that were lost, and knew it
  std::atomic<std::int64_t> unaware_{0};     // the guard refused one that believed itself valid: never right
  std::atomic<std::int64_t> broken_{0};      // the application's own connection broke
  std::atomic<std::int64_t> unreleased_{0};  // release() gave another answer than "released" or "lost"
  std::atomic<std::int64_t> failed_{0};
  mutable std::mutex mutex_;
  std::string what_failed_;
  std::vector<std::thread> threads_;
};

}  // namespace rowlock::test
