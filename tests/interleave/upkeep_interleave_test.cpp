// The collection of unused names, and a database that has become another server.
#include "interleave_test.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

TEST_P(interleave_test, a_collection_and_acquires_of_the_same_name) {
  explore([](scene& run) {
    auto& first = run.mutex("a");
    auto& second = run.mutex("a");
    run.on().fixture().age(first.item.name, 1h);
    run.does("upkeep", [&](caller& by) { by.again([&] { by.session().collect(30min, 10); }); });
    run.does("first", [&](caller& by) { by.acquire(first); });
    run.does("second", [&](caller& by) { by.edit_acquire(second); });
  });
}

TEST_P(interleave_test, another_server_and_grants) {
  explore([](scene& run) {
    auto& first = run.mutex("a");
    auto& second = run.mutex("a");
    auto& dead = run.held(run.mutex("b"));
    run.expire(dead);
    run.may_be_lost(dead);
    run.dead_may_remain();
    run.on().fixture().change_identity();
    run.clock_may_change();
    run.does("first", [&](caller& by) { by.acquire(first); });
    run.does("second", [&](caller& by) { by.acquire(second); });
    run.does("killer", [&](caller& by) { by.kill({&dead}); });
  });
}

TEST_P(interleave_test, a_lost_marker_and_an_epoch_raised_by_hand) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& waiter = run.queued(run.mutex("a"));
    run.on().fixture().lose_marker();
    run.epoch_may_rise();
    run.does("keeper", [&](caller& by) { by.again([&] { by.session().record_database_state(); }); });
    run.does("operator", [&](caller& by) { by.again([&] { by.session().raise_epoch(0); }); });
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("waiter", [&](caller& by) { by.look(waiter); });
  });
}

}  // namespace rowlock::test
