#include "interleave_test.hpp"

namespace rowlock::test {

INSTANTIATE_TEST_SUITE_P(stores, interleave_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql", "sqlite"})),
                         store_test_name);

TEST_P(interleave_test, acquires_of_a_free_lock) {
  explore([](scene& run) {
    auto& first = run.mutex("a");
    auto& second = run.mutex("a");
    run.does("first", [&](caller& by) { by.acquire(first); });
    run.does("second", [&](caller& by) { by.edit_acquire(second); });
  });
}

TEST_P(interleave_test, a_release_and_an_acquire_behind_a_waiter) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& waiter = run.queued(run.mutex("a"));
    auto& late = run.mutex("a");
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("late", [&](caller& by) { by.acquire(late); });
    run.does("waiter", [&](caller& by) { by.look(waiter); });
  });
}

TEST_P(interleave_test, a_release_and_the_first_waiters) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& first = run.mutex("a");
    auto& second = run.mutex("a");
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("first", [&](caller& by) { by.acquire(first); });
    run.does("second", [&](caller& by) { by.edit_acquire(second); });
  });
}

TEST_P(interleave_test, a_withdrawal_and_a_hand_over) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& waiter = run.queued(run.mutex("a"));
    auto& next = run.queued(run.mutex("a"));
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("waiter", [&](caller& by) { by.withdraw(waiter); });
    run.does("next", [&](caller& by) { by.look(next); });
  });
}

TEST_P(interleave_test, a_forced_release_a_release_and_an_acquire) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& waiter = run.mutex("a");
    run.may_be_lost(holder);
    run.may_be_lost(waiter);
    run.does("operator", [&](caller& by) { by.force(run.name("a")); });
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("waiter", [&](caller& by) { by.acquire(waiter); });
  });
}

TEST_P(interleave_test, a_forced_release_and_renewals) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& other = run.mutex("b");
    run.may_be_lost(holder);
    run.does("operator", [&](caller& by) { by.force(run.name("a")); });
    run.does("keeper", [&](caller& by) { by.renew({&other, &holder}); });
    run.does("end", [&](caller& by) { by.end({&holder}); });
  });
}

TEST_P(interleave_test, batches_in_opposite_orders) {
  explore([](scene& run) {
    std::vector<wish*> first, second, held;
    for (const auto* name : {"a", "b", "c"}) {
      held.push_back(&run.held(run.mutex(name)));
      first.push_back(&run.mutex(name));
      second.insert(second.begin(), &run.mutex(name));
    }
    run.does("holder", [held](caller& by) { by.release_all(held); });
    run.does("first", [first](caller& by) { by.release_all(by.acquire_all(first)); });
    run.does("second", [second](caller& by) { by.acquire_all(second); });
  });
}

TEST_P(interleave_test, groups_and_a_single_release) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("b"));
    std::vector<wish*> first, second;
    for (const auto* name : {"a", "b"}) {
      first.push_back(&run.mutex(name));
      second.push_back(&run.mutex(name));
    }
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("first", [first](caller& by) {
      by.acquire_together(first);
      if (first.front()->is == wish::belief::holds) by.release_all(first);
    });
    run.does("second", [second](caller& by) { by.acquire_together(second); });
  });
}

}  // namespace rowlock::test
