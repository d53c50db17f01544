#ifdef ROWLOCK_TEST_MYSQL

// A name that is collected and created again at the same time keeps its tokens rising.
#include "store/mysql_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class mysql_collect_test : public mysql_test {};

// The creator found the name missing. Since then others have made, used and collected it, and the last of them is about
// to commit. So the creator must read the floor after that commit.
TEST_P(mysql_collect_test, beside_a_creation_keeps_tokens_rising) {
  const auto session = ready();
  const auto collector = raw();
  until_uncontended([&] {
    collector->run("ROLLBACK");
    const auto floor = std::stoll(value("SELECT greatest(epoch_floor, token_floor) FROM @meta"));
    const auto used = std::to_string(floor + 1'000'000'000'000);
    run(*collector, "START TRANSACTION; SELECT token_floor FROM @meta FOR UPDATE");
    run(*collector,
        "INSERT INTO @lock (name, kind, capacity, fair, delay_ms, token, used_at) "
        "VALUES ('a', 'mutex', 1, 1, 0, " +
            used + ", SYSDATE(6))");
    run(*collector, "UPDATE @meta SET token_floor = " + used);
    run(*collector, "DELETE FROM @lock");
    auto created = in_background([&] { create(*session, "a"); });
    until_blocked(*session, created);
    collector->run("COMMIT");
    created.get();
    EXPECT_EQ(value("SELECT token FROM @lock"), used);
  });
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_collect_test);

}  // namespace
}  // namespace rowlock::test

#endif
