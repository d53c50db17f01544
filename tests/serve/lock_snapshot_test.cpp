#include "serve/lock_snapshot.hpp"

#include "support/background.hpp"
#include "support/store_fixture.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <thread>

namespace rowlock::test {

TEST(lock_snapshot, counts_who_waits_for_a_lock_and_no_candidate_that_stands_by) {
  const auto fixture = make_store_fixture("sqlite");
  const auto db = connect(fixture->url());
  const auto other = connect(fixture->url());
  const auto leader = election{db, "office"}.campaign();
  const auto held = mutex{db, "job"}.acquire();
  std::stop_source over;
  const auto stops = [&](auto call) {
    return in_background([call, stop = over.get_token()] {
      try {
        call(acquire_options{.stop = stop});
      } catch (const error&) {
        // The test has stopped it.
      }
    });
  };
  const auto stands_by = stops([&](const auto& how) { (void)election{other, "office"}.campaign(how); });
  const auto waits = stops([&](const auto& how) { (void)mutex{other, "job"}.acquire(how); });
  // Also if a reading fails: both calls would wait for ever.
  const std::unique_ptr<std::stop_source, void (*)(std::stop_source*)> at_end{
      &over, [](std::stop_source* waits_of) { waits_of->request_stop(); }};
  while (admin{db}.queue("office").empty() || admin{db}.queue("job").empty()) std::this_thread::yield();

  serve::database seen{[&] { return db; },
                       {"its schema", [] { return 1; }, std::chrono::minutes{1}},
                       [](const char*, std::chrono::nanoseconds, const error*) {}};
  const auto found = serve::lock_snapshot_reader{{"*"}}.read(seen);
  EXPECT_EQ(found.locks, 2);
  EXPECT_EQ(found.waiters, 1);
  ASSERT_EQ(found.chosen.size(), 2U);
  EXPECT_EQ(found.chosen[0].waiters, 1) << found.chosen[0].name;
  EXPECT_EQ(found.chosen[1].waiters, 0) << found.chosen[1].name;
}

}  // namespace rowlock::test
