// A primitive under load, while its holders and waiters are killed at random moments.
#pragma once

#include "crew.hpp"
#include "process_test.hpp"
#include "visits_report.hpp"

#include <functional>
#include <random>

namespace rowlock::test {

class kill_test : public process_test {
 protected:
  // Settings with a short ttl, because the others wait until the leases of the dead expire.
  worker_settings mortal() const;
  test::witness witness() { return {sql(), prefix()}; }

  // How many lines of this kind the witness has.
  std::int64_t said(const std::string& what);

  using condition = std::function<bool(const visits_report&)>;

  // Runs the load in four processes. Kills one process inside and one in the queue, again and again; other processes
  // must come after each kill. Goes on until the report is as wanted, because chance decides who meets whom. Returns
  // the report on all lines of the witness.
  visits_report kill_holders_and_waiters(const std::string& load, std::int64_t capacity,
                                         const condition& as_wanted = {});
  // Ends the loads, and expects that nothing went wrong in them.
  static void halt(crew& all);
  // Expects that nobody was inside together with a visit that it had to wait for, and that all came in order.
  static void expect_order(const visits_report& found);
  // Waits until no hold, place or lease is left, once the leases of the dead have expired and somebody sweeps.
  void until_nothing_is_left();

  // Waits for a random time, so that kills hit any moment.
  void until_some_moment(std::chrono::microseconds within);
  std::mt19937& random() { return random_; }

  // The pids of all that stand in a queue, including dead processes.
  std::set<std::int64_t> waiting();

 private:
  const unsigned seed_ = std::random_device{}();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937 random_{seed_};
};

}  // namespace rowlock::test
