// A skew delays the kill of an expired lease. If a lock's holder is dead already, the lock waits for no kill.
#include "client/client_test.hpp"

namespace rowlock::test {
namespace {

class skew_test : public virtual_client_test {
 protected:
  static options skewed() {
    auto settings = calm();
    settings.skew = 5s;
    return settings;
  }
  // Deletes the holder's lease, which the lock's row still names.
  void end_lease_of_holder() {
    const auto lease = *server->snapshot().locks.at("a").row.lease;
    server->open()->connect()->end({&lease, 1});
  }

  client holding = new_client(skewed());
  client other = new_client(skewed());
  hold held = mutex{holding, "a"}.acquire();
};

TEST_F(skew_test, a_waiter_gets_what_a_dead_client_holds) {
  auto waiter = waiting(other, "a");
  end_lease_of_holder();
  EXPECT_TRUE(soon([&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
}

TEST_F(skew_test, an_attempt_gets_what_a_dead_client_holds) {
  end_lease_of_holder();
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

}  // namespace
}  // namespace rowlock::test
