#include "contract/contract_test.hpp"

#include "support/background.hpp"

#include <rowlock/error.hpp>

#include <future>

namespace rowlock::test {
namespace {

class interrupt_test : public contract_test {
 protected:
  // Interrupts again and again until the work is done: the work may not have begun when the first interrupt comes.
  template <class Work>
  std::optional<error> interrupted(Work work) {
    auto outcome = in_background([&]() -> std::optional<error> {
      try {
        work();
        return {};
      } catch (const error& thrown) {
        return thrown;
      }
    });
    while (outcome.wait_for(5ms) != std::future_status::ready) b->interrupt();
    return outcome.get();
  }
};

TEST_P(interrupt_test, breaks_a_verb_that_hangs) {
  const auto lease = new_lease();
  auto rival = fixture().stall_renewals();
  std::optional<error> thrown;
  // On MySQL a session waits for a row for one second only, and the machine may pause for longer.
  for (int tries = 0; tries < 5 && (!thrown || thrown->code() == errc::contention); ++tries) {
    thrown = interrupted([&] { b->renew(std::vector{lease}); });
    ASSERT_TRUE(thrown);
  }
  EXPECT_EQ(thrown->code(), errc::unreachable) << thrown->what();
  rival.reset();
  EXPECT_THROW(b->renew(std::vector{lease}), error) << "the session is broken";
  EXPECT_TRUE(renew(lease)) << "other sessions are not";
}

TEST_P(interrupt_test, breaks_a_wait) {
  b->listen(new_lease());
  while (b->wait(0ns)) {
  }
  const auto thrown = interrupted([&] { b->wait(20s); });
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->code(), errc::unreachable) << thrown->what();
}

ROWLOCK_FOR_EACH_STORE(interrupt_test);

}  // namespace
}  // namespace rowlock::test
