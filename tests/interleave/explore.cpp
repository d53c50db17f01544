#include "interleave_test.hpp"
#include "support/long_run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace rowlock::test {

namespace {

std::size_t runs_at_most() {
  if (const char* set = std::getenv("ROWLOCK_TEST_ORDERS")) return std::stoul(set);
  if (is_long_run()) return 200;
  return std::getenv("ROWLOCK_TEST_HOSTILE_SETTINGS") != nullptr ? 10 : 25;
}

// How many runs are made to estimate the number of orders.
constexpr std::size_t probes = 8;

}  // namespace

bool interleave_test::run(order& choices, const std::string& which,
                          const std::function<void(scene&)>& ready) {
  scene now{stage_, choices};
  ready(now);
  const auto found = now.run();
  ++runs_;
  if (now.steps().blocked() > 0) ++with_blocking_;
  most_switches_ = std::max(most_switches_, now.steps().switches());
  orders_.insert(now.steps().order());
  if (found.empty()) return true;
  ADD_FAILURE() << found << which << ":\n" << now.story();
  return false;
}

void interleave_test::explore(const std::function<void(scene&)>& ready) {
  const auto limit = runs_at_most();
  std::vector<double> estimates;
  std::uint64_t seed = 1;
  for (; seed <= probes; ++seed) {
    random_order sample{seed};
    if (!run(sample, "seed " + std::to_string(seed), ready)) return;
    estimates.push_back(sample.orders_like_this());
  }
  bool all = false;
  // Takes the median, because a single run that had many choices says little about the others.
  std::ranges::sort(estimates);
  if (estimates[probes / 2] <= 4 * static_cast<double>(limit)) {
    next_order each;
    std::size_t number = 0;
    do {
      if (!run(each, "order " + std::to_string(++number), ready)) return;
      all = !each.advance();
    } while (!all && number < 2 * limit);
  }
  for (; !all && seed <= limit; ++seed) {
    random_order sample{seed};
    if (!run(sample, "seed " + std::to_string(seed), ready)) return;
  }
  report(all);
}

void interleave_test::report(bool all) {
  const auto& info = *testing::UnitTest::GetInstance()->current_test_info();
  std::printf("interleaved %-60s %5zu runs, %5zu orders (%s), %4zu with a statement that waited\n",
              info.name(), runs_, orders_.size(), all ? "all" : "sample", with_blocking_);
  // If two connections never change turns more than once, one runs after the other.
  EXPECT_GT(most_switches_, 1U) << "nothing was interleaved";
}

}  // namespace rowlock::test
