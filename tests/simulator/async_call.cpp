#include "simulator/async_call.hpp"

namespace rowlock::simulator {

// ---- with a callback ----

void begin_with_callback(const one_lock& asked, const executor& where, std::function<void(acquired)> done) {
  if (asked.limit) return try_acquire_async(where, asked.lock, *asked.limit, std::move(done), asked.how);
  acquire_async(where, asked.lock, std::move(done), asked.how);
}

void begin_with_callback(const several_locks& asked, const executor& where,
                         std::function<void(acquired_all)> done) {
  if (asked.limit) return try_acquire_all_async(where, asked.locks, *asked.limit, std::move(done), asked.how);
  acquire_all_async(where, asked.locks, std::move(done), asked.how);
}

void begin_with_callback(const an_arrival& asked, const executor& where, std::function<void(arrived)> done) {
  if (asked.limit) return arrive_async(where, *asked.at, *asked.limit, std::move(done), asked.how.stop);
  arrive_async(where, *asked.at, std::move(done), asked.how.stop);
}

void begin_with_callback(const a_latch& asked, const executor& where, std::function<void(waited)> done) {
  if (asked.limit) return wait_async(where, *asked.on, *asked.limit, std::move(done), asked.how.stop);
  wait_async(where, *asked.on, std::move(done), asked.how.stop);
}

void begin_with_callback(const a_release& asked, const executor& where,
                         std::function<void(a_release::result)> done) {
  release_async(where, std::move(*asked.held), [done = std::move(done)](release_result how) {
    done({how, {}});
  });
}

// ---- in a coroutine ----

coroutine begin_in_coroutine(one_lock asked, executor where, std::function<void(acquired)> done) {
  acquired got;
  try {
    if (asked.limit) {
      got.hold = co_await try_acquire_on(where, asked.lock, *asked.limit, asked.how);
    } else {
      got.hold = co_await acquire_on(where, asked.lock, asked.how);
    }
  } catch (const error& failure) {
    got.failure = failure;
  }
  done(std::move(got));
}

coroutine begin_in_coroutine(several_locks asked, executor where, std::function<void(acquired_all)> done) {
  acquired_all got;
  try {
    if (asked.limit) {
      got.holds = co_await try_acquire_all_on(where, asked.locks, *asked.limit, asked.how);
    } else {
      got.holds = co_await acquire_all_on(where, asked.locks, asked.how);
    }
  } catch (const error& failure) {
    got.failure = failure;
  }
  done(std::move(got));
}

coroutine begin_in_coroutine(an_arrival asked, executor where, std::function<void(arrived)> done) {
  arrived got;
  try {
    if (asked.limit) {
      got.generation = co_await arrive_on(where, *asked.at, *asked.limit, asked.how.stop);
    } else {
      got.generation = co_await arrive_on(where, *asked.at, asked.how.stop);
    }
  } catch (const error& failure) {
    got.failure = failure;
  }
  done(std::move(got));
}

coroutine begin_in_coroutine(a_latch asked, executor where, std::function<void(waited)> done) {
  waited got;
  try {
    if (asked.limit) {
      got.open = co_await wait_on(where, *asked.on, *asked.limit, asked.how.stop);
    } else {
      got.open = co_await wait_on(where, *asked.on, asked.how.stop);
    }
  } catch (const error& failure) {
    got.failure = failure;
  }
  done(std::move(got));
}

coroutine begin_in_coroutine(a_release asked, executor where, std::function<void(a_release::result)> done) {
  a_release::result got;
  try {
    got.how = co_await release_on(where, std::move(*asked.held));
  } catch (const error& failure) {
    got.failure = failure;
  }
  done(std::move(got));
}

}  // namespace rowlock::simulator
