#include "store/postgres/postgres_array.hpp"

#include "model/ids.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

TEST(postgres_array_test, quotes_texts_and_nothing_else) {
  store::postgres_array all;
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(all.to_string(), "{}");
  all.add(R"(a "b" \c, {d})");
  all.add("");
  all.add("NULL");
  EXPECT_EQ(all.to_string(), R"({"a \"b\" \\c, {d}","","NULL"})");
  store::postgres_array numbers;
  numbers.add(std::int64_t{-7});
  numbers.add(true);
  numbers.add(std::optional<std::int64_t>{});
  EXPECT_EQ(numbers.to_string(), "{-7,t,NULL}");
}

TEST(postgres_array_test, a_column_of_one_value_is_shortened_on_request) {
  store::postgres_batch<3> rows;
  EXPECT_TRUE(rows.empty());
  rows.add("n1", "mutex", 1);
  EXPECT_EQ(rows.shortened(), (std::array<std::string, 3>{R"({"n1"})", R"({"mutex"})", "{1}"}));
  rows.add("n12", "mutex", 1);
  rows.add("n1", "mutex", 12);
  EXPECT_EQ(rows.shortened(),
            (std::array<std::string, 3>{R"({"n1","n12","n1"})", R"({"mutex"})", "{1,1,12}"}));
  EXPECT_EQ(rows.columns()[1].to_string(), R"({"mutex","mutex","mutex"})") << "for statements that need all";
}

}  // namespace
}  // namespace rowlock::test
