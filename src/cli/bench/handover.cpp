#include "cli/bench/floor.hpp"
#include "cli/bench/measure.hpp"
#include "cli/bench/scenario.hpp"
#include "cli/bench/worker_group.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <new>
#include <system_error>

namespace rowlock::cli::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t samples_max = 1 << 20;

// What the processes share. Only the lock's holder touches anything but stop, so the lock itself keeps it in
// order.
struct baton {
  std::atomic<bool> stop = false;
  std::int64_t released_at_ns = 0;  // when the release that made the present holder began
  int releaser = -1;
  std::size_t count = 0;
  std::int64_t took_ns[samples_max];
};

class shared_baton {
 public:
  shared_baton() {
    void* memory = mmap(nullptr, sizeof(baton), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    baton_ = new (memory) baton;
  }
  ~shared_baton() { munmap(baton_, sizeof(baton)); }
  shared_baton(const shared_baton&) = delete;
  shared_baton& operator=(const shared_baton&) = delete;
  baton* operator->() const { return baton_; }

 private:
  baton* baton_;
};

// One process: acquires, notes how long ago its predecessor began to release, releases.
void pass_around(const plan& plan, int me, const shared_baton& shared, worker_channel& channel) {
  rowlock::client db = rowlock::connect(plan.url, plan.settings);
  rowlock::mutex warm_up{db, fmt::format("bench/own/{}", me)};
  warm_up.acquire().release();
  rowlock::mutex passed{db, "bench/passed"};
  channel.ready_and_wait();
  while (!shared->stop) {
    rowlock::hold hold = passed.acquire();
    std::int64_t now = monotonic_ns();
    if (shared->releaser >= 0 && shared->releaser != me && shared->count < samples_max) {
      shared->took_ns[shared->count++] = now - shared->released_at_ns;
    }
    shared->releaser = me;
    shared->released_at_ns = monotonic_ns();
    hold.release();
  }
}

std::vector<double> hand_over_ms(const plan& plan, int processes, std::chrono::milliseconds slice) {
  shared_baton shared;
  worker_group workers{processes,
                       [&](int me, worker_channel& channel) { pass_around(plan, me, shared, channel); }};
  workers.start();
  workers.wait_while_running(slice);
  shared->stop = true;
  workers.finish();
  std::vector<double> took;
  for (std::size_t i = 0; i < shared->count; ++i)
    took.push_back(static_cast<double>(shared->took_ns[i]) / 1e6);
  return took;
}

std::vector<double> commits_ms(const plan& plan, std::chrono::milliseconds slice, std::string& durability) {
  auto database = open_floor(plan);
  durability = database->durability();
  auto connection = database->connect(0);
  std::vector<double> took;
  std::int64_t end = monotonic_ns() + std::chrono::nanoseconds{slice}.count();
  while (monotonic_ns() < end) {
    std::int64_t begin = monotonic_ns();
    connection->update();
    took.push_back(static_cast<double>(monotonic_ns() - begin) / 1e6);
  }
  return took;
}

}  // namespace

std::vector<result> handover(const plan& plan) {
  int processes = plan.threads.value_or(2);
  if (processes < 2) {
    throw rowlock::error(rowlock::errc::invalid_argument,
                         "--threads of handover is the number of processes: 2 or more");
  }
  auto slice = plan.slice.value_or(3s);
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> commit;
  std::size_t count = 0;
  result one;
  one.scenario = "handover";
  one.threads = processes;
  one.unit = "ms from release to acquired (p50)";
  auto measure_rowlock = [&] {
    std::vector<double> took = hand_over_ms(plan, processes, slice);
    if (took.empty()) throw std::runtime_error("the lock never passed from one process to another");
    count += took.size();
    p50.push_back(median(took));
    p99.push_back(quantile(took, 0.99));
  };
  for (int round = 0; round < plan.rounds; ++round) {
    if (round % 2 == 0) measure_rowlock();
    commit.push_back(median(commits_ms(plan, slice / 3, one.durability)));
    if (round % 2 == 1) measure_rowlock();
  }
  one.rowlock = median(p50);
  one.floor = median(commit);
  one.details["p50_ms"] = one.rowlock;
  one.details["p99_ms"] = median(p99);
  one.details["commit_ms"] = one.floor;
  one.details["hand_overs"] = count;
  one.details["rounds"] = plan.rounds;
  return {one};
}

}  // namespace rowlock::cli::bench
