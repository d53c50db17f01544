// Forked processes that begin together. Requires: no other thread exists when they are made.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <new>
#include <system_error>
#include <vector>

namespace rowlock::bench {

// A value that this process and those that it forks later share.
template <class Value>
class shared_value {
 public:
  shared_value() {
    void* memory = mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    value_ = new (memory) Value;
  }
  ~shared_value() { munmap(value_, sizeof(Value)); }
  shared_value(const shared_value&) = delete;
  shared_value& operator=(const shared_value&) = delete;
  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }

 private:
  Value* value_;
};

// A worker's end of the channel.
class worker_channel {
 public:
  worker_channel(int ready, int go) : ready_{ready}, go_{go} {}
  // Reports that this worker is prepared, and waits until all workers are.
  void ready_and_wait();

 private:
  int ready_;
  int go_;
};

class worker_group {
 public:
  // Each child runs work(index, channel) and exits. Its exception goes to standard error and sets the exit status.
  worker_group(int count, const std::function<void(int, worker_channel&)>& work);
  ~worker_group();  // kills and reaps what still runs
  worker_group(const worker_group&) = delete;
  worker_group& operator=(const worker_group&) = delete;

  void start();                                             // waits for all to be ready, then lets them go
  void wait_while_running(std::chrono::milliseconds time);  // returns early when one has failed
  void finish();  // waits for all; throws std::runtime_error if one has failed

 private:
  std::vector<pid_t> running_;
  int ready_ = -1;
  int go_ = -1;
  int count_;
};

}  // namespace rowlock::bench
