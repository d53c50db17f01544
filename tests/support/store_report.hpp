// Prints at the end of a run how many cases each store executed and which it skipped, so that no skip is
// overlooked. scripts/run-tests reads these lines.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace rowlock::test {

class store_report : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& info) override;
  void OnTestProgramEnd(const testing::UnitTest& unit) override;

 private:
  struct counts {
    int executed = 0;
    int skipped = 0;
  };

  std::map<std::string, counts> by_store_;
  std::vector<std::string> skipped_;
};

}  // namespace rowlock::test
