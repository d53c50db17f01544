// A scenario's connections step through the SQL of their verbs in all orders, or in a sample of them.
#pragma once

#include "scene.hpp"

#include "support/stores.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

namespace rowlock::test {

class interleave_test : public testing::TestWithParam<std::string> {
 protected:
  interleave_test() : stage_{GetParam()} {}

  // `ready` prepares each run. Ends with the first run that breaks a rule, and prints its story.
  void explore(const std::function<void(scene&)>& ready);

  bool is(std::string_view store) const { return GetParam() == store; }
  stage& on() { return stage_; }

 private:
  bool run(order& choices, const std::string& which, const std::function<void(scene&)>& ready);
  void report(bool all);

  stage stage_;
  std::size_t runs_ = 0, with_blocking_ = 0, most_switches_ = 0;
  std::set<std::string> orders_;
};

}  // namespace rowlock::test
