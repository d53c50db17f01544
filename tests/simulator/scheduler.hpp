// Runs the threads of a program one at a time, in virtual time, in an order that a seed decides.
//
// The threads are real ones, but only one of them has the turn; the others sleep in the kernel. Their calls to lock,
// wait, sleep, start a thread, read a clock or draw random bytes come here (interposed.cpp), and at each such call
// the turn may pass to another thread. When no thread can run, the clock jumps to the earliest end of a wait. So a
// seed decides everything, and the same seed gives the same run.
#pragma once

#include "simulator/random.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::simulator {

using nanoseconds = std::int64_t;
inline constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();
inline constexpr nanoseconds microsecond = 1'000;
inline constexpr nanoseconds millisecond = 1'000'000;
inline constexpr nanoseconds second = 1'000'000'000;

// A clock with its own rate.
struct drifting_clock {
  std::int64_t parts_per_million = 0;  // faster than true time
  nanoseconds offset = 0;

  nanoseconds reading(nanoseconds true_time) const {
    return true_time + static_cast<nanoseconds>(static_cast<wide>(true_time) * parts_per_million / million) +
           offset;
  }
  // The first true time at which the clock shows that reading.
  nanoseconds true_time(nanoseconds reading) const {
    const auto since = static_cast<wide>(reading - offset);
    return since <= 0 ? 0 : static_cast<nanoseconds>(since * million / (million + parts_per_million)) + 2;
  }

 private:
  __extension__ using wide = __int128;
  static constexpr std::int64_t million = 1'000'000;
};

// The threads of one client program: they share a clock and a process id, and stall or die together.
struct process {
  int id = 0;
  int client = 0;  // which client of the story the process runs, from 1; 0: none
  drifting_clock clock{};
  nanoseconds stalled_until = 0;
  bool dead = false;
  nanoseconds stalled_in_total = 0;  // how long it has stood still in total
};

struct thread_record;

// How the scheduler chooses threads.
struct scheduling {
  std::uint64_t points_per_switch = 64;  // how many calls a thread makes on average before another may run
  bool by_priority = false;  // the thread with the highest priority runs; priorities change from time to time
  std::uint64_t points_per_delay =
      0;  // how many calls there are on average before a thread is delayed; 0: never
  nanoseconds longest_delay = 0;
  std::uint64_t waits_per_spurious =
      0;  // how many waits there are on average before one ends without a reason
};

class scheduler {
 public:
  // Makes the calling thread the first one. `failed` is called when the run cannot continue; it must not return.
  scheduler(std::uint64_t seed, const scheduling& how, std::function<void(const std::string&)> failed);
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  static scheduler* active() noexcept { return active_; }

  // ---- time and processes ----
  nanoseconds now() const noexcept { return now_; }
  process& add_process();
  process& home() const noexcept;  // the process of the calling thread
  // From now on the calling thread, and the threads that it starts, belong to `other`.
  void move_to(process& other) noexcept;
  void stall(process& whom, nanoseconds length);
  void kill(process& whom) noexcept;
  // How many threads of a process have not ended.
  int threads_of(const process& whom) const;
  std::string describe() const;

  // While a thread has locked one of these mutexes, it is inside the database server, which is never stalled or killed.
  void add_server(const void* first, const void* last);
  // The next readings of this thread show that process's clock. Null: its own process's.
  void read_clock_of(const process* other) noexcept;

  // ---- what has happened in the run ----
  void note(std::uint64_t value) noexcept;  // adds the value to the hash
  void note(std::string_view text) noexcept;
  std::uint64_t hash() const noexcept { return hash_; }
  std::uint64_t switches() const noexcept { return switches_; }
  std::uint64_t points() const noexcept { return points_; }
  std::uint64_t delays() const noexcept { return delays_; }
  std::uint64_t spurious() const noexcept { return spurious_; }
  // From now on no thread is delayed, and no wait ends spuriously.
  void calm_down() noexcept;

  // ---- the functions that interposed.cpp calls ----
  void lock(pthread_mutex_t* mutex);
  bool try_lock(pthread_mutex_t* mutex);
  void unlock(pthread_mutex_t* mutex);
  bool wait(const void* on, pthread_mutex_t* mutex, nanoseconds until);  // false: the time has passed
  int notify(const void* on, int most);                                  // returns how many
  void sleep_until(nanoseconds until);
  void yield();
  int create(pthread_t* made, const pthread_attr_t* how, void* (*body)(void*), void* argument);
  int join(pthread_t whom, void** result);
  nanoseconds read_clock();
  nanoseconds true_time(nanoseconds reading) const;  // by the calling thread's clock
  nanoseconds real_time();
  void draw(void* bytes, std::size_t size);
  int pid() const noexcept;
  const process* process_of(std::int64_t pid) const noexcept;  // null: there is none
  bool is_alive(int pid) const noexcept;
  void name(pthread_t whom, const char* name);

 private:
  friend struct thread_end;
  friend class uninterrupted;

  int wake(const void* on, int most);
  void point();  // another thread may run here
  void pass_turn();
  void finish(thread_record& ended);
  thread_record& choose();
  bool may_run(const thread_record& one) const;
  bool is_server(const void* address) const noexcept {
    return std::ranges::any_of(servers_,
                               [&](const auto& one) { return address >= one.first && address < one.second; });
  }
  void take(pthread_mutex_t* mutex);
  void give(pthread_mutex_t* mutex);
  static void* run_thread(void* record);

  static scheduler* active_;

  scheduling how_;
  std::function<void(const std::string&)> failed_;
  random_stream order_;
  random_stream entropy_;
  nanoseconds now_ = 1000 * second;
  std::vector<std::unique_ptr<thread_record>> threads_;
  std::vector<thread_record*> alive_;
  std::vector<std::unique_ptr<process>> processes_;
  std::vector<std::pair<const void*, const void*>> servers_;
  std::uint64_t until_switch_ = 0;
  std::uint64_t until_delay_ = 0;
  std::uint64_t hash_ = 14695981039346656037U;
  std::uint64_t switches_ = 0;
  std::uint64_t points_ = 0;
  std::uint64_t delays_ = 0;
  std::uint64_t spurious_ = 0;
};

// While an object of this class lives, the calling thread keeps its turn. The thread must not wait for anything.
class uninterrupted {
 public:
  uninterrupted() noexcept;
  ~uninterrupted();
  uninterrupted(const uninterrupted&) = delete;
  uninterrupted& operator=(const uninterrupted&) = delete;
};

// While an object of this class lives, the calling thread runs as a thread of that process.
class as_process {
 public:
  explicit as_process(process& other) : before_(scheduler::active()->home()) {
    scheduler::active()->move_to(other);
  }
  ~as_process() { scheduler::active()->move_to(before_); }
  as_process(const as_process&) = delete;
  as_process& operator=(const as_process&) = delete;

 private:
  process& before_;
};

}  // namespace rowlock::simulator
