// Permits of semaphores, readers and writers.
#include "interleave_test.hpp"

namespace rowlock::test {

TEST_P(interleave_test, permits_that_do_not_all_fit) {
  explore([](scene& run) {
    auto& held = run.held(run.permits("a", 1, 2));
    auto& one = run.permits("a", 1, 2);
    auto& another = run.permits("a", 1, 2);
    run.does("holder", [&](caller& by) { by.release(held); });
    run.does("one", [&](caller& by) { by.acquire(one); });
    run.does("another", [&](caller& by) { by.acquire(another, false); });
  });
}

TEST_P(interleave_test, a_large_request_for_permits_before_a_small_one) {
  explore([](scene& run) {
    auto& held = run.held(run.permits("a", 2, 3));
    auto& large = run.permits("a", 3, 3);
    auto& small = run.permits("a", 1, 3);
    run.does("holder", [&](caller& by) { by.release(held); });
    run.does("large", [&](caller& by) { by.acquire(large); });
    run.does("small", [&](caller& by) { by.acquire(small); });
  });
}

TEST_P(interleave_test, batches_of_permits_of_one_name) {
  explore([](scene& run) {
    std::vector<wish*> held{&run.held(run.permits("a", 1, 4)), &run.held(run.permits("a", 2, 4))};
    std::vector<wish*> wanted{&run.permits("a", 1, 4), &run.permits("a", 2, 4), &run.permits("a", 1, 4)};
    auto& large = run.permits("a", 3, 4);
    run.does("holder", [held](caller& by) { by.release_batch(held); });
    run.does("batch", [wanted](caller& by) { by.acquire_all(wanted); });
    run.does("large", [&](caller& by) { by.acquire(large, false); });
  });
}

TEST_P(interleave_test, a_batch_of_readers_and_a_writer) {
  explore([](scene& run) {
    std::vector<wish*> held{&run.held(run.shared("a")), &run.held(run.shared("a"))};
    std::vector<wish*> wanted{&run.shared("a"), &run.shared("a")};
    auto& writer = run.shared("a", true);
    run.does("readers", [held](caller& by) { by.release_batch(held); });
    run.does("more", [wanted](caller& by) { by.release_batch(by.acquire_all(wanted)); });
    run.does("writer", [&](caller& by) { by.acquire(writer); });
  });
}

TEST_P(interleave_test, a_part_given_back_and_two_that_want_it) {
  explore([](scene& run) {
    auto& held = run.held(run.permits("a", 3, 3));
    auto& large = run.permits("a", 2, 3);
    auto& small = run.permits("a", 1, 3);
    run.does("holder", [&](caller& by) { by.reduce(held, 1); });
    run.does("large", [&](caller& by) { by.acquire(large); });
    run.does("small", [&](caller& by) { by.acquire(small); });
  });
}

TEST_P(interleave_test, an_upgrade_a_reader_and_a_writer) {
  explore([](scene& run) {
    auto& reader = run.held(run.shared("a"));
    auto& other = run.shared("a");
    auto& writer = run.shared("a", true);
    run.does("reader", [&](caller& by) { by.upgrade(reader); });
    run.does("other", [&](caller& by) { by.acquire(other); });
    run.does("writer", [&](caller& by) { by.acquire(writer); });
  });
}

TEST_P(interleave_test, a_downgrade_and_the_readers_behind) {
  explore([](scene& run) {
    auto& writer = run.held(run.shared("a", true));
    auto& reader = run.queued(run.shared("a"));
    auto& late = run.shared("a");
    run.does("writer", [&](caller& by) { by.downgrade(writer); });
    run.does("reader", [&](caller& by) { by.withdraw(reader); });
    run.does("late", [&](caller& by) { by.acquire(late); });
  });
}

TEST_P(interleave_test, a_guarded_write_a_forced_release_and_an_acquire) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& rival = run.mutex("a");
    run.may_be_lost(holder);
    run.may_be_lost(rival);
    run.waiters_poll();
    run.does("user", [&](caller& by) { by.write_guarded(holder); });
    run.does("operator", [&](caller& by) { by.force(run.name("a")); });
    run.does("rival", [&](caller& by) { by.acquire(rival); });
  });
}

TEST_P(interleave_test, a_guarded_write_and_a_release_with_a_waiter) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& waiter = run.queued(run.mutex("a"));
    run.waiters_poll();
    run.does("user", [&](caller& by) { by.write_guarded(holder); });
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("waiter", [&](caller& by) { by.look(waiter); });
  });
}

TEST_P(interleave_test, a_guarded_reader_and_a_writer) {
  explore([](scene& run) {
    auto& reader = run.held(run.shared("a"));
    auto& writer = run.shared("a", true);
    run.waiters_poll();
    run.does("user", [&](caller& by) { by.write_guarded(reader); });
    run.does("reader", [&](caller& by) { by.release(reader); });
    run.does("writer", [&](caller& by) { by.acquire(writer); });
  });
}

}  // namespace rowlock::test
