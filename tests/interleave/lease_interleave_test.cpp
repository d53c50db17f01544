// Leases that expire, are renewed, killed or ended while other statements run.
#include "interleave_test.hpp"

namespace rowlock::test {

TEST_P(interleave_test, a_renewal_and_a_kill_while_the_lease_expires) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& rival = run.mutex("a");
    run.may_be_lost(holder);
    run.dead_may_remain();
    run.does("keeper", [&](caller& by) { by.renew({&holder, &rival}); });
    run.does("clock", [&](caller&) { run.expire(holder); });
    run.does("rival", [&](caller& by) { by.acquire(rival); });
  });
}

TEST_P(interleave_test, renewals_kills_and_ends_in_opposite_orders) {
  explore([](scene& run) {
    auto& one = run.held(run.mutex("a"));
    auto& two = run.held(run.mutex("b"));
    run.expire(one);
    run.may_be_lost(one);
    run.may_be_lost(two);
    run.does("keeper", [&](caller& by) { by.renew({&one, &two}); });
    run.does("killer", [&](caller& by) { by.kill({&two, &one}); });
    run.does("owner", [&](caller& by) { by.end({&two, &one}); });
  });
}

TEST_P(interleave_test, rivals_for_a_dead_holder) {
  explore([](scene& run) {
    auto& dead = run.held(run.mutex("a"));
    auto& first = run.mutex("a");
    auto& second = run.mutex("a");
    run.may_be_lost(dead);
    run.kill(dead);
    run.does("first", [&](caller& by) { by.acquire(first); });
    run.does("second", [&](caller& by) { by.acquire(second); });
  });
}

TEST_P(interleave_test, rivals_for_an_expired_holder_behind_an_expired_waiter) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& waiter = run.queued(run.mutex("a"));
    auto& first = run.mutex("a");
    auto& second = run.mutex("a");
    for (auto* one : {&holder, &waiter}) {
      run.may_be_lost(*one);
      run.expire(*one);
    }
    run.does("first", [&](caller& by) { by.acquire(first); });
    run.does("second", [&](caller& by) { by.acquire(second); });
    run.does("holder", [&](caller& by) { by.renew({&holder}); });
  });
}

TEST_P(interleave_test, a_sweep_a_release_and_a_dead_waiter) {
  explore([](scene& run) {
    auto& holder = run.held(run.mutex("a"));
    auto& dead = run.queued(run.mutex("a"));
    auto& waiter = run.queued(run.mutex("a"));
    run.may_be_lost(dead);
    run.kill(dead);
    run.does("sweeper", [&](caller& by) { by.sweep(run.name("a")); });
    run.does("holder", [&](caller& by) { by.release(holder); });
    run.does("waiter", [&](caller& by) { by.look(waiter); });
  });
}

}  // namespace rowlock::test
