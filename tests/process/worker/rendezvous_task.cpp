#include "task.hpp"
#include "witness.hpp"

#include <rowlock/barrier.hpp>
#include <rowlock/error.hpp>
#include <rowlock/latch.hpp>

#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

namespace rowlock::test {

namespace {

// Uses a latch or a barrier, which the words name with its number. Notes what it does before and after each step.
class rendezvous_task : public task {
 public:
  rendezvous_task(const load_plan& plan, tally& counts, int index)
      : task{plan, counts}, random_{static_cast<unsigned>(::getpid() * 64 + index)} {}

 protected:
  void note(const std::string& what, std::int64_t token = 0) {
    speak([&](sql_session& session) {
      witness{session, plan().databases.front().prefix}.note(what, plan().names.at(0), token);
    });
  }
  // The work between two meetings.
  void work() { std::this_thread::sleep_for(std::chrono::microseconds{random_() % 10'000}); }

 private:
  std::mt19937 random_;
};

class count_down_task final : public rendezvous_task {
 public:
  count_down_task(const load_plan& plan, tally& counts, int index)
      : rendezvous_task{plan, counts, index},
        latch_{plan.databases.front().db, plan.names.at(0), std::stoll(plan.names.at(1))} {}

  void run(int, std::stop_token) override {
    work();
    note("counts");
    latch_.count_down();
    note("counted");
    ++counts().written;
  }

 private:
  latch latch_;
};

class latch_task final : public rendezvous_task {
 public:
  latch_task(const load_plan& plan, tally& counts, int index)
      : rendezvous_task{plan, counts, index},
        latch_{plan.databases.front().db, plan.names.at(0), std::stoll(plan.names.at(1))} {}

  void run(int, std::stop_token stop) override {
    latch_.wait(stop);
    note("went on");
    ++counts().written;
  }

 private:
  latch latch_;
};

class barrier_task final : public rendezvous_task {
 public:
  barrier_task(const load_plan& plan, tally& counts, int index)
      : rendezvous_task{plan, counts, index},
        barrier_{plan.databases.front().db, plan.names.at(0), std::stoll(plan.names.at(1))} {}

  void run(int, std::stop_token stop) override {
    work();
    note("arrives");
    try {
      const auto generation = barrier_.arrive_and_wait(stop);
      note("went on", generation);
      ++counts().written;
    } catch (const error& refusal) {
      if (refusal.code() != errc::broken_barrier) throw;
      note("heard of the break");
      ++counts().lost;
    }
  }

 private:
  barrier barrier_;
};

}  // namespace

std::unique_ptr<task> make_count_down_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<count_down_task>(plan, counts, index);
}

std::unique_ptr<task> make_latch_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<latch_task>(plan, counts, index);
}

std::unique_ptr<task> make_barrier_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<barrier_task>(plan, counts, index);
}

}  // namespace rowlock::test
