#include "client/base/recorded_names.hpp"

#include "client/client_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

TEST(recorded_names_test, fit_a_pattern) {
  client_layer::recorded_names names;
  EXPECT_FALSE(names.contains("a"));
  EXPECT_EQ(names.version(), 0);
  names.use(3, {{"a", 5, 1h}, {"billing/*", 10, 2h}, {"billing/nightly", 2, 48h}});
  EXPECT_EQ(names.version(), 3);
  EXPECT_TRUE(names.contains("a"));
  EXPECT_FALSE(names.contains("aa"));
  EXPECT_TRUE(names.contains("billing/"));
  EXPECT_FALSE(names.contains("billing"));
  EXPECT_EQ(names.find("billing/nightly")->keep, 10);
  EXPECT_EQ(names.find("billing/nightly")->age, 48h);
  names.use(4, {});
  EXPECT_FALSE(names.contains("a"));
}

TEST(recorded_names_test, remember_a_limited_number_of_names_to_prune) {
  client_layer::recorded_names names;
  for (int i = 0; i < 1500; ++i) names.note_written(std::to_string(i));
  EXPECT_EQ(names.take_written().size(), 1000U);
  EXPECT_THAT(names.take_written(), IsEmpty());
}

class recording_doubt_test : public virtual_client_test {};

TEST_F(recording_doubt_test, what_is_recorded_is_read_again_after_a_refusal_that_is_temporary) {
  client db = new_client();
  const hold kept = mutex(db, "b").acquire();
  admin operations{new_client()};
  operations.record({"a", 10, 24h});
  faults.refuse("recordings");
  pass_renewals(db, 2);
  mutex(db, "a").acquire().release();
  EXPECT_EQ(operations.history("a", 10).size(), 2U);
}

}  // namespace
}  // namespace rowlock::test
