#include "client/base/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using model::lock_kind;
using testing::AllOf;
using testing::HasSubstr;

TEST(errors_test, a_copy_says_all_that_the_original_says) {
  const error original{errc::contention, "a conflict", "40001", true};
  for (const auto& copy :
       {client_layer::copy_of(original), client_layer::copy_of(std::make_exception_ptr(original))}) {
    EXPECT_EQ(copy.code(), original.code());
    EXPECT_STREQ(copy.what(), original.what());
    EXPECT_EQ(copy.database_code(), "40001");
    EXPECT_TRUE(copy.outcome_unknown());
  }
}

TEST(errors_test, a_copy_of_another_exception_is_an_internal_error) {
  const auto copy = client_layer::copy_of(std::make_exception_ptr(std::runtime_error("a bug")));
  EXPECT_EQ(copy.code(), errc::internal);
  EXPECT_STREQ(copy.what(), "a bug");
}

TEST(errors_test, only_what_may_pass_by_itself_is_temporary) {
  for (const auto code : {errc::unreachable, errc::contention, errc::read_only})
    EXPECT_TRUE(client_layer::is_temporary({code, ""})) << to_string(code);
  for (const auto code : {errc::privilege, errc::authentication, errc::mismatch, errc::not_migrated,
                          errc::too_new, errc::closed, errc::database, errc::internal})
    EXPECT_FALSE(client_layer::is_temporary({code, ""})) << to_string(code);
}

TEST(errors_test, a_mismatch_names_the_lock_and_both_definitions) {
  const auto said =
      client_layer::mismatch({"a", lock_kind::semaphore, 3, true}, {"a", lock_kind::election, 1, false});
  EXPECT_EQ(said.code(), errc::mismatch);
  EXPECT_THAT(said.what(), AllOf(HasSubstr("\"a\""), HasSubstr("stored as an unfair election"),
                                 HasSubstr("requested as a semaphore with 3 permits")));
}

TEST(errors_test, a_mismatch_shows_a_capacity_where_the_user_has_given_one) {
  const auto stored = [](lock_kind kind, std::int64_t capacity) {
    return std::string{client_layer::mismatch({"a"}, {"a", kind, capacity}).what()};
  };
  EXPECT_THAT(stored(lock_kind::latch, 2), HasSubstr("a latch that counts 2"));
  EXPECT_THAT(stored(lock_kind::barrier, 2), HasSubstr("a barrier of 2 members"));
  EXPECT_THAT(stored(lock_kind::shared_mutex, model::shared_mutex_capacity),
              HasSubstr("stored as a shared_mutex, "));
  EXPECT_THAT(stored(lock_kind::election, 2), HasSubstr("an election of capacity 2"));
}

TEST(errors_test, the_others_have_their_code_and_say_which_lock_and_how_long) {
  EXPECT_EQ(client_layer::closed_client().code(), errc::closed);
  EXPECT_EQ(client_layer::closed_during_wait().code(), errc::closed);
  EXPECT_EQ(client_layer::no_answer(15s).code(), errc::unreachable);
  EXPECT_THAT(client_layer::no_answer(15s).what(), HasSubstr("15000 ms"));
  EXPECT_EQ(client_layer::broken("a").code(), errc::broken_barrier);
  EXPECT_THAT(client_layer::broken("a").what(), HasSubstr("\"a\""));
  EXPECT_EQ(client_layer::row_is_locked("a", 800ms).code(), errc::contention);
  EXPECT_THAT(client_layer::row_is_locked("a", 800ms).what(), AllOf(HasSubstr("\"a\""), HasSubstr("800 ms")));
}

}  // namespace
}  // namespace rowlock::test
