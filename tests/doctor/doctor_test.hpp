// What a diagnosis found, as texts to compare.
#pragma once

#include "doctor/diagnosis.hpp"
#include "store/open.hpp"
#include "store/registry.hpp"

#include <rowlock/doctor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rowlock::test {

// A text such as "warning stale-slot" for each finding, in their order.
inline std::vector<std::string> codes_of(const std::vector<finding>& findings) {
  std::vector<std::string> codes;
  for (const auto& one : findings) codes.push_back(std::string{to_string(one.level)} + ' ' + one.code);
  return codes;
}

inline std::vector<std::string> codes_of(std::string_view dialect, const store::server_facts& facts) {
  return codes_of(doctor::judge(store::checks_of(dialect), facts));
}

inline store::store_options reading() {
  store::store_options options;
  options.read_only = true;
  return options;
}

}  // namespace rowlock::test
