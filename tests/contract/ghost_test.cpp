#include "contract/contract_test.hpp"

#include "support/background.hpp"
#include "support/ends_ghost.hpp"

#include <rowlock/error.hpp>

#include <future>

namespace rowlock::test {
namespace {

class ghost_test : public contract_test {};

TEST_P(ghost_test, has_a_backend_of_its_own) {
  ROWLOCK_NEEDS(backends);
  EXPECT_NE(a->backend(), "");
  EXPECT_NE(a->backend(), b->backend());
}

TEST_P(ghost_test, is_certainly_gone_once_ended) {
  ROWLOCK_NEEDS(backends);
  const auto lease = new_lease();
  EXPECT_TRUE(ends_ghost(*a, b->backend()));
  try {
    b->renew(std::vector{lease});
    ADD_FAILURE() << "its backend was ended";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::unreachable);
  }
}

TEST_P(ghost_test, that_is_gone_already_is_gone) {
  ROWLOCK_NEEDS(backends);
  const auto backend = b->backend();
  ASSERT_TRUE(ends_ghost(*a, backend));
  EXPECT_TRUE(a->end_ghost(backend));
}

TEST_P(ghost_test, that_waits_for_a_row_does_nothing_once_ended) {
  ROWLOCK_NEEDS(backends);
  const auto lease = new_lease();
  fixture().expire(lease, -5s);
  auto rival = fixture().stall_renewals();
  const auto backend = b->backend();
  const auto renewal_fails = [&] {
    try {
      b->renew(std::vector{lease});
      return false;
    } catch (const error&) {
      return true;
    }
  };
  std::future<bool> failed;
  bool waits = false;
  // On MySQL a session waits for a row for one second only, and the machine may pause for longer.
  for (int tries = 0; tries < 5 && !waits; ++tries) {
    failed = in_background(renewal_fails);
    // MariaDB refreshes the report that is_blocked() reads only if nobody has read it for a tenth of a second.
    while (!waits && failed.wait_for(120ms) != std::future_status::ready) {
      waits = fixture().is_blocked(backend);
    }
  }
  ASSERT_TRUE(waits);
  EXPECT_TRUE(ends_ghost(*a, backend));
  // The rival ends before the client gives up by itself.
  rival.reset();
  EXPECT_TRUE(failed.get());
  // The lease ends in less than ten seconds, unless the ghost has renewed it.
  EXPECT_EQ(a->kill(std::vector{lease}, std::chrono::seconds{-10}).size(), 1U);
}

ROWLOCK_FOR_EACH_STORE(ghost_test);

}  // namespace
}  // namespace rowlock::test
