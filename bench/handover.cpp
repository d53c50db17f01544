#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"
#include "bench/worker_group.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t samples_max = 1 << 20;
// In one process the releaser requests the lock again at once. The holder keeps the lock this long, so that the request
// is in the queue by then, and only the hand-over is measured.
constexpr auto lining_up = 2ms;

// The data that processes or threads share. Only the lock's holder uses the members other than `stop`, so the lock
// itself protects them.
struct baton {
  std::atomic<bool> stop = false;
  std::int64_t released_at_ns = 0;  // when the release that made the current holder began
  int releaser = -1;
  std::size_t count = 0;
  std::int64_t took_ns[samples_max];
};

using shared_baton = shared_value<baton>;

// One of the workers that pass the lock on: acquires, notes how long ago its predecessor began to release, releases.
void pass_around(const rowlock::client& db, int me, const shared_baton& shared,
                 std::chrono::milliseconds held_for = 0ms) {
  rowlock::mutex passed{db, "bench/passed"};
  while (!shared->stop) {
    rowlock::hold hold = passed.acquire();
    std::int64_t now = monotonic_ns();
    if (shared->releaser >= 0 && shared->releaser != me && shared->count < samples_max) {
      shared->took_ns[shared->count++] = now - shared->released_at_ns;
    }
    shared->releaser = me;
    if (held_for > 0ms) std::this_thread::sleep_for(held_for);
    shared->released_at_ns = monotonic_ns();
    hold.release();
  }
}

rowlock::client warm_client(const plan& plan, int me) {
  rowlock::client db = rowlock::connect(plan.url, plan.settings);
  rowlock::mutex{db, fmt::format("bench/own/{}", me)}.acquire().release();
  return db;
}

void run_processes(const plan& plan, int count, std::chrono::milliseconds slice, const shared_baton& shared) {
  worker_group workers{count, [&](int me, worker_channel& channel) {
                         rowlock::client db = warm_client(plan, me);
                         channel.ready_and_wait();
                         pass_around(db, me, shared);
                       }};
  workers.start();
  workers.wait_while_running(slice);
  shared->stop = true;
  workers.finish();
}

void run_threads(const plan& plan, int count, std::chrono::milliseconds slice, const shared_baton& shared) {
  rowlock::client db = warm_client(plan, 0);
  first_failure failure;
  std::vector<std::jthread> threads;
  for (int me = 0; me < count; ++me) {
    threads.emplace_back([&, me] {
      try {
        pass_around(db, me, shared, lining_up);
      } catch (...) {
        failure.capture();
      }
    });
  }
  std::this_thread::sleep_for(slice);
  shared->stop = true;
  threads.clear();
  failure.rethrow();
}

using runners = void (*)(const plan&, int, std::chrono::milliseconds, const shared_baton&);

std::vector<double> hand_over_ms(const plan& plan, runners run, int count, std::chrono::milliseconds slice) {
  shared_baton shared;
  run(plan, count, slice, shared);
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

std::vector<result> measure(const plan& plan, const char* scenario, const char* of_what, int usual,
                            runners run) {
  int count = plan.threads.value_or(usual);
  if (count < 2) {
    throw rowlock::error(rowlock::errc::invalid_argument,
                         fmt::format("--threads of {} is the number of {}: 2 or more", scenario, of_what));
  }
  auto slice = plan.slice.value_or(3s);
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> commit;
  std::size_t hand_overs = 0;
  result one;
  one.scenario = scenario;
  one.threads = count;
  one.unit = "ms from release to acquired (p50)";
  auto measure_rowlock = [&] {
    std::vector<double> took = hand_over_ms(plan, run, count, slice);
    if (took.empty()) throw std::runtime_error(fmt::format("the lock never passed between {}", of_what));
    hand_overs += took.size();
    p50.push_back(median(took));
    p99.push_back(quantile(took, 0.99));
  };
  in_turn(plan.rounds, measure_rowlock,
          [&] { commit.push_back(median(commits_ms(plan, slice / 3, one.durability))); });
  one.rowlock = median(p50);
  one.floor = median(commit);
  one.details["p50_ms"] = one.rowlock;
  one.details["p99_ms"] = median(p99);
  one.details["commit_ms"] = one.floor;
  one.details["hand_overs"] = hand_overs;
  one.details["rounds"] = plan.rounds;
  return {one};
}

}  // namespace

std::vector<result> handover(const plan& plan) {
  return measure(plan, "handover", "processes", 2, run_processes);
}

std::vector<result> handover_local(const plan& plan) {
  return measure(plan, "handover-local", "threads", 4, run_threads);
}

}  // namespace rowlock::bench
