// A primitive under load, while its holders and those who wait for it are killed at random moments.
#pragma once

#include "crew.hpp"
#include "process_test.hpp"
#include "visits_report.hpp"

#include <random>

namespace rowlock::test {

class kill_test : public process_test {
 protected:
  // With a short ttl, for the others wait for the leases of the dead.
  worker_settings mortal() const;
  test::witness witness() { return {sql(), prefix()}; }

  // How often the witness was told that.
  std::int64_t said(const std::string& what);

  // load: of four processes. Again and again one is killed inside and one in the queue, and others must come
  // after them. What the witness says in the end.
  visits_report kill_holders_and_waiters(const std::string& load, std::int64_t capacity);
  // Ends their loads, in which nothing may have gone wrong.
  static void halt(crew& all);
  // Nobody who had to wait for others was inside with them, and everybody came in turn.
  static void expect_order(const visits_report& found);
  // Neither a hold nor a place nor a lease, once the leases of the dead have ended and somebody sweeps.
  void until_nothing_is_left();

  // The random moment is the test.
  void until_some_moment(std::chrono::microseconds within);
  std::mt19937& random() { return random_; }

  // The pids of those who stand in a queue, the dead among them.
  std::set<std::int64_t> waiting();

 private:
  const unsigned seed_ = std::random_device{}();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937 random_{seed_};
};

}  // namespace rowlock::test
