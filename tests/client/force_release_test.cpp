#include "client/call/force_release.hpp"

#include "client/client_test.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

class force_release_test : public virtual_client_test {
 protected:
  client_layer::engine& engine() { return *primitives::access::engine(db); }
  // Calls the function in a thread of its own, and lets time pass until it has returned.
  template <class Call>
  release_result in_time(Call call) {
    auto called = in_background(call);
    EXPECT_TRUE(soon([&] { return called.wait_for(0s) == std::future_status::ready; }));
    return called.get();
  }
  release_result force(const std::string& name, const hold* only = nullptr) {
    return in_time([=, this] {
      return client_layer::force_release(engine(), name, 5s,
                                         only ? model::hold_id{only->id()} : model::hold_id{});
    });
  }

  client db = new_client();
  client other = new_client();
};

TEST_F(force_release_test, of_what_nobody_holds_finds_nothing) {
  EXPECT_EQ(force("no such lock"), release_result::lost);
  mutex(other, "a").acquire().release();
  EXPECT_EQ(force("a"), release_result::lost);
}

TEST_F(force_release_test, takes_the_lock_from_all_its_holders) {
  counting_semaphore permits{other, "a", 3};
  const hold first = permits.acquire();
  const hold second = permits.acquire();
  EXPECT_EQ(force("a"), release_result::released);
  EXPECT_TRUE(soon([&] { return first.loss() == loss::forced && second.loss() == loss::forced; }));
  EXPECT_TRUE(server->snapshot().permits.empty());
}

TEST_F(force_release_test, takes_one_hold_alone_where_it_is_named) {
  counting_semaphore permits{other, "a", 3};
  const hold kept = permits.acquire();
  const hold taken = permits.acquire();
  EXPECT_EQ(force("a", &taken), release_result::released);
  EXPECT_TRUE(soon([&] { return taken.loss() == loss::forced; }));
  EXPECT_TRUE(kept);
  EXPECT_EQ(server->snapshot().permits.at("a").size(), 1U);
  EXPECT_EQ(force("a", &taken), release_result::lost);
}

TEST_F(force_release_test, a_sweep_frees_what_the_dead_have_and_nothing_else) {
  const auto sweep = [this] {
    return in_time([this] { return client_layer::sweep_lock(engine(), "a", 5s); });
  };
  const hold held = mutex(other, "a").acquire();
  EXPECT_EQ(sweep(), release_result::lost);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
  server->expire(*server->snapshot().locks.at("a").row.lease);
  EXPECT_EQ(sweep(), release_result::released);
  EXPECT_EQ(holder_of("a"), "");
}

TEST_F(force_release_test, without_an_answer_in_time_the_result_is_unknown) {
  mutex(db, "b").acquire().release();
  const hold held = mutex(other, "a").acquire();
  faults.hang("show");
  const auto begun = time.now();
  EXPECT_EQ(force("a"), release_result::unknown);
  EXPECT_GE(time.now(), begun + 5s);
  EXPECT_EQ(holder_of("a"), held.id().to_string()) << "nothing was sent but a look";
  server->unblock();
}

TEST_F(force_release_test, a_force_hits_no_later_holder) {
  hold first = mutex(other, "a").acquire();
  auto waiter = waiting(other, "a");
  faults.lose_answer("edit");
  auto forced = in_background([&] { return admin{db}.release("a"); });
  ASSERT_TRUE(soon([&] { return forced.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(forced.get());
  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  const hold second = waiter.take();
  pass_renewals(other);
  EXPECT_EQ(holder_of("a"), second.id().to_string())
      << "granted by the force itself, which was then sent again";
  EXPECT_EQ(second.token().value(), first.token().value() + 2)
      << "the force raised it once, and the grant once";
  EXPECT_TRUE(second);
}

TEST_F(force_release_test, a_force_that_was_reported_as_unknown_is_not_done_later) {
  mutex(db, "b").acquire().release();
  const hold held = mutex(other, "a").acquire();
  faults.refuse("edit", 1'000'000);
  auto forced = in_background([&] { return code_of([&] { admin{db}.release("a"); }); });
  ASSERT_TRUE(soon([&] { return forced.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(forced.get(), errc::unreachable);
  faults.forget();
  const auto end = time.now() + 10s;
  soon([&] { return time.now() >= end; });
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

}  // namespace
}  // namespace rowlock::test
