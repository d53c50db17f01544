#include "client/call/arrive.hpp"

#include "client/client_test.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

class arrive_test : public virtual_client_test {
 protected:
  using number = std::optional<model::token>;

  static model::lock_definition barrier_of(std::int64_t members) {
    return {"b", model::lock_kind::barrier, members};
  }
  std::future<number> arriving(const client& member, std::int64_t members = 2,
                               const client_layer::wait_limit& how_long = {},
                               const std::stop_token& stop = {}) {
    return in_background([member, members, how_long, stop] {
      return client_layer::arrive(*primitives::access::engine(member), barrier_of(members), how_long, stop);
    });
  }
  std::future<number> waiting(const client& member, const client_layer::wait_limit& how_long = {},
                              const std::stop_token& stop = {}) {
    auto made = arriving(member, 2, how_long, stop);
    EXPECT_TRUE(eventually([&] { return queued("b") == 1; }));
    return made;
  }
  number result(std::future<number> call) {
    EXPECT_TRUE(soon([&] { return call.wait_for(0s) == std::future_status::ready; }));
    return call.get();
  }

  client db = new_client();
  client other = new_client();
};

TEST_F(arrive_test, the_last_member_lets_all_go_on_with_one_number) {
  auto first = waiting(db);
  const auto last = result(arriving(other));
  ASSERT_TRUE(last);
  EXPECT_EQ(result(std::move(first)), last);
  EXPECT_EQ(queued("b"), 0U);
  auto next = waiting(db);
  const auto later = result(arriving(other));
  EXPECT_GT(later, last);
  EXPECT_EQ(result(std::move(next)), later);
}

TEST_F(arrive_test, one_that_was_stopped_before_arrives_nowhere) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of([&] { arriving(db, 2, {}, stop.get_token()).get(); }), errc::cancelled);
  EXPECT_EQ(arriving(db, 2, {true, 1s}, stop.get_token()).get(), number{});
  EXPECT_FALSE(server->snapshot().locks.contains("b"));
}

TEST_F(arrive_test, a_stop_breaks_the_generation) {
  std::stop_source stop;
  auto member = waiting(db, {}, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(code_of([&] { result(std::move(member)); }), errc::cancelled);
  EXPECT_EQ(queued("b"), 0U);
}

TEST_F(arrive_test, a_member_whose_time_is_up_leaves_and_breaks_it_for_the_others) {
  auto limited = arriving(db, 3, {true, 2s});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  auto waits = arriving(other, 3);
  ASSERT_TRUE(eventually([&] { return queued("b") == 2; }));
  EXPECT_EQ(result(std::move(limited)), number{});
  EXPECT_EQ(code_of([&] { result(std::move(waits)); }), errc::broken_barrier);
  EXPECT_EQ(queued("b"), 0U);
}

// The generation may have become complete while the member's time ran out. Only the database knows.
TEST_F(arrive_test, a_member_whose_time_is_up_goes_on_if_all_had_arrived) {
  faults.hang_answer("edit", 1);
  auto limited = arriving(db, 2, {true, 2s});
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto last = arriving(other);
  ASSERT_TRUE(eventually([&] { return last.wait_for(0s) == std::future_status::ready; }));
  advance(2s);
  server->unblock();
  const auto number_of_last = last.get();
  ASSERT_TRUE(number_of_last);
  EXPECT_EQ(result(std::move(limited)), number_of_last);
}

TEST_F(arrive_test, without_an_answer_it_is_unknown_whether_all_had_arrived) {
  auto limited = waiting(db, {true, 2s});
  faults.cut(true);
  bool unknown = false;
  try {
    result(std::move(limited));
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::unreachable);
    unknown = thrown.outcome_unknown();
  }
  EXPECT_TRUE(unknown);
  faults.cut(false);
}

TEST_F(arrive_test, a_closed_client_cannot_arrive) {
  db.close();
  EXPECT_EQ(code_of([&] { arriving(db).get(); }), errc::closed);
}

}  // namespace
}  // namespace rowlock::test
