#include "support/store_report.hpp"

#include "support/stores.hpp"

#include <algorithm>
#include <cstdio>

namespace rowlock::test {

namespace {

// "stores/suite.case/postgres" -> "postgres"; empty if the test does not belong to a store.
std::string store_of(const testing::TestInfo& info) {
  if (!info.value_param()) return {};
  const std::string name = info.name();
  const std::string store = name.substr(name.rfind('/') + 1);
  const auto& stores = selected_stores();
  return std::ranges::count(stores, store) > 0 ? store : std::string{};
}

std::string reason_of(const testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).skipped()) return result.GetTestPartResult(i).message();
  }
  return {};
}

}  // namespace

void store_report::OnTestEnd(const testing::TestInfo& info) {
  const std::string store = store_of(info);
  const bool was_skipped = info.result()->Skipped();
  if (was_skipped) {
    skipped_.push_back(std::string{info.test_suite_name()} + "." + info.name() + ": " +
                       reason_of(*info.result()));
  }
  if (store.empty()) return;
  ++(was_skipped ? by_store_[store].skipped : by_store_[store].executed);
}

void store_report::OnTestProgramEnd(const testing::UnitTest& unit) {
  for (const auto& line : skipped_) std::printf("skipped %s\n", line.c_str());
  for (const auto& [store, count] : by_store_) {
    std::printf("store=%s executed=%d skipped=%d\n", store.c_str(), count.executed, count.skipped);
  }
  std::printf("%d passed, %d failed\n", unit.successful_test_count(), unit.failed_test_count());
  std::fflush(stdout);
}

}  // namespace rowlock::test
