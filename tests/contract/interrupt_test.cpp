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
  const auto start = std::chrono::steady_clock::now();
  auto rival = fixture().stall_renewals();
  const auto thrown = interrupted([&] { b->renew(std::vector{lease}); });
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->code(), errc::unreachable) << thrown->what();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 4s) << "before the statement's own timeout";
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
