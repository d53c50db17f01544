#include "cli/exit_code.hpp"

#include <gtest/gtest.h>

#include <map>

namespace rowlock::cli {

TEST(exit_code, is_one_for_each_kind_of_error) {
  const std::map<errc, int> expected{
      {errc::invalid_argument, 64}, {errc::mismatch, 64},   {errc::unreachable, 69},
      {errc::authentication, 77},   {errc::privilege, 77},  {errc::read_only, 69},
      {errc::not_migrated, 78},     {errc::too_new, 78},    {errc::cancelled, 75},
      {errc::hold_lost, 76},        {errc::deadlock, 70},   {errc::closed, 70},
      {errc::forked, 70},           {errc::contention, 69}, {errc::schema, 78},
      {errc::database, 70},         {errc::internal, 70},   {errc::broken_barrier, 75},
  };
  // A new kind must be given a code here too.
  EXPECT_EQ(expected.size(), static_cast<std::size_t>(errc::internal));
  for (const auto& [code, number] : expected) EXPECT_EQ(exit_code_of(code), number) << to_string(code);
}

}  // namespace rowlock::cli
