#include "client/client_test.hpp"

#include "primitives/access.hpp"
#include "support/background.hpp"

#include <rowlock/async.hpp>

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <shared_mutex>

namespace rowlock::test {
namespace {

using testing::UnorderedElementsAre;

class shared_mutex_test : public client_test {
 protected:
  // Waits on a thread of its own; returns when the request stands in the queue.
  std::future<hold> enqueue(std::function<hold()> acquire) {
    const auto before = queued("a");
    auto result = in_background(std::move(acquire));
    EXPECT_TRUE(eventually([&] { return queued("a") == before + 1; }));
    return result;
  }
  std::future<hold> reader(client on) {
    return enqueue([on] { return shared_mutex(on, "a").acquire_shared(); });
  }
  std::future<hold> writer(client on) {
    return enqueue([on] { return shared_mutex(on, "a").acquire(); });
  }
  std::size_t holders() { return side().show("a").value().holders.size(); }

  client db = new_client();
  client other = new_client();
};

TEST_P(shared_mutex_test, readers_share_and_a_writer_does_not) {
  shared_mutex wanted{db, "a"};
  shared_mutex elsewhere{other, "a"};
  hold one = wanted.acquire_shared();
  const auto two = elsewhere.try_acquire_shared();
  ASSERT_TRUE(two);
  EXPECT_TRUE(one);
  EXPECT_GT(two.token(), one.token());
  EXPECT_EQ(one.weight(), 1);
  EXPECT_EQ(holders(), 2U);
  EXPECT_FALSE(elsewhere.try_acquire());
  EXPECT_FALSE(elsewhere.try_acquire_for(20ms));
  EXPECT_EQ(one.release(), release_result::released);
  EXPECT_FALSE(wanted.try_acquire());
}

TEST_P(shared_mutex_test, a_writer_excludes_readers_and_writers) {
  shared_mutex elsewhere{other, "a"};
  hold held = shared_mutex(db, "a").acquire();
  EXPECT_EQ(held.weight(), side().show("a").value().row.capacity);
  EXPECT_FALSE(elsewhere.try_acquire_shared());
  EXPECT_FALSE(elsewhere.try_acquire_shared_for(20ms));
  EXPECT_FALSE(elsewhere.try_acquire());
  held.release();
  EXPECT_TRUE(elsewhere.try_acquire_shared());
}

TEST_P(shared_mutex_test, is_granted_in_turn_with_neighbouring_readers_together) {
  auto held = std::make_optional(shared_mutex(db, "a").acquire());
  auto one = reader(db);
  auto two = reader(other);
  auto write = writer(other);
  auto late = reader(db);
  held.reset();
  auto first = one.get();
  auto second = two.get();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_EQ(holders(), 2U);
  EXPECT_EQ(queued("a"), 2U);
  first.release();
  EXPECT_EQ(queued("a"), 2U);
  second.release();
  auto written = write.get();
  EXPECT_EQ(queued("a"), 1U);
  EXPECT_GT(written.token(), second.token());
  written.release();
  EXPECT_TRUE(late.get());
}

TEST_P(shared_mutex_test, later_readers_do_not_overtake_a_writer_who_waits) {
  auto held = std::make_optional(shared_mutex(db, "a").acquire_shared());
  auto write = writer(other);
  EXPECT_FALSE(shared_mutex(db, "a").try_acquire_shared());
  auto late = reader(db);
  held.reset();
  auto written = write.get();
  EXPECT_EQ(queued("a"), 1U);
  written.release();
  EXPECT_TRUE(late.get());
}

TEST_P(shared_mutex_test, a_writer_who_gives_up_lets_the_readers_behind_it_in) {
  const hold held = shared_mutex(db, "a").acquire_shared();
  std::stop_source stop;
  auto write =
      in_background([&] { return shared_mutex(other, "a").try_acquire_for(1h, {.stop = stop.get_token()}); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  auto late = reader(db);
  stop.request_stop();
  EXPECT_FALSE(write.get());
  EXPECT_TRUE(late.get());
}

TEST_P(shared_mutex_test, what_a_dead_reader_had_comes_back) {
  const hold lost = shared_mutex(db, "a").acquire_shared();
  kill(side().show("a").value().holders.at(0).lease.id);
  EXPECT_TRUE(shared_mutex(other, "a").try_acquire());
}

TEST_P(shared_mutex_test, an_expired_reader_is_killed_by_a_writer_who_waits) {
  const hold lost = shared_mutex(db, "a").acquire_shared();
  auto write = writer(other);
  fixture().expire(side().show("a").value().holders.at(0).lease.id);
  EXPECT_TRUE(write.get());
}

TEST_P(shared_mutex_test, an_explicit_ttl_carries_a_reader) {
  shared_mutex wanted{db, "a"};
  hold held = wanted.acquire_shared({.ttl = 20s});
  EXPECT_LE(held.remaining(), 20s);
  const auto lease = side().show("a").value().holders.at(0).lease;
  EXPECT_EQ(lease.ttl, 20s);
  EXPECT_NE(lease.id, lease.client);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(side().find_stale(100, -1h).leases.size(), 1U) << "of the client";
}

TEST_P(shared_mutex_test, an_explicit_ttl_ends_a_reader_and_a_writer) {
  hold reader = shared_mutex(db, "a").acquire_shared({.ttl = 300ms});
  hold writer = shared_mutex(db, "b").acquire({.ttl = 300ms});
  EXPECT_TRUE(shared_mutex(other, "a").try_acquire_for(20s));
  EXPECT_TRUE(shared_mutex(other, "b").try_acquire_shared_for(20s));
  for (hold* over : {&reader, &writer}) {
    EXPECT_EQ(over->loss(), loss::expired);
    EXPECT_EQ(over->release(), release_result::lost);
  }
}

TEST_P(shared_mutex_test, many_dead_readers_are_cleared_for_one_writer) {
  shared_mutex wanted{db, "a"};
  std::vector<hold> lost;
  // Each hold stands on a lease of its own.
  for (int i = 0; i < 40; ++i) lost.push_back(wanted.acquire_shared({.ttl = 1h}));
  auto write = writer(other);
  const auto shown = side().show("a").value();
  ASSERT_EQ(shown.holders.size(), lost.size());
  for (const auto& holder : shown.holders) fixture().expire(holder.lease.id);
  EXPECT_TRUE(write.get());
  EXPECT_TRUE(eventually([&] { return holders() == 0; }));
}

TEST_P(shared_mutex_test, downgrade_keeps_the_token_and_writers_out) {
  shared_mutex wanted{db, "a"};
  hold held = wanted.acquire();
  const auto token = held.token();
  const auto id = held.id();
  auto neighbour = reader(other);
  auto write = writer(other);
  wanted.downgrade(held);
  EXPECT_TRUE(held);
  EXPECT_EQ(held.token(), token);
  EXPECT_EQ(held.id(), id);
  EXPECT_EQ(held.weight(), 1);
  EXPECT_TRUE(neighbour.get()) << "granted by the downgrade, and given back here";
  EXPECT_EQ(queued("a"), 1U);
  wanted.downgrade(held);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_GT(write.get().token(), token);
}

TEST_P(shared_mutex_test, try_upgrade_of_the_only_reader_gives_it_a_new_token) {
  shared_mutex wanted{db, "a"};
  hold held = wanted.acquire_shared();
  const auto token = held.token();
  EXPECT_TRUE(wanted.try_upgrade(held));
  EXPECT_GT(held.token(), token);
  EXPECT_GT(held.weight(), 1);
  EXPECT_EQ(held.id().to_string(), holder_of("a"));
  EXPECT_FALSE(shared_mutex(other, "a").try_acquire_shared());
  EXPECT_TRUE(wanted.try_upgrade(held));
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_TRUE(shared_mutex(other, "a").try_acquire());
}

TEST_P(shared_mutex_test, try_upgrade_is_refused_beside_others_and_before_who_waits) {
  shared_mutex wanted{db, "a"};
  hold held = wanted.acquire_shared();
  auto beside = std::make_optional(shared_mutex(other, "a").acquire_shared());
  EXPECT_FALSE(wanted.try_upgrade(held));
  EXPECT_TRUE(held);
  beside.reset();
  auto write = writer(other);
  EXPECT_FALSE(wanted.try_upgrade(held));
  held.release();
  EXPECT_TRUE(write.get());
}

TEST_P(shared_mutex_test, downgrade_and_upgrade_of_what_is_over_say_so) {
  shared_mutex wanted{db, "a"};
  hold held = wanted.acquire();
  admin(other).release("a");
  EXPECT_EQ(code_of([&] { wanted.downgrade(held); }), errc::hold_lost);
  hold stranger = shared_mutex(db, "b").acquire();
  EXPECT_EQ(code_of([&] { wanted.downgrade(stranger); }), errc::invalid_argument);
  hold of_another_kind = mutex(db, "d").acquire();
  EXPECT_EQ(code_of([&] { shared_mutex(db, "d").downgrade(of_another_kind); }), errc::invalid_argument);
  EXPECT_TRUE(of_another_kind);
  hold released = shared_mutex(db, "c").acquire_shared();
  released.release();
  EXPECT_EQ(code_of([&] { std::ignore = shared_mutex(db, "c").try_upgrade(released); }), errc::hold_lost);
}

TEST_P(shared_mutex_test, serves_the_standards_locks) {
  shared_mutex wanted{db, "a"};
  {
    std::shared_lock one{wanted};
    EXPECT_EQ(wanted.current_hold().weight(), 1);
    std::shared_lock beside{wanted, 1s};
    EXPECT_TRUE(beside);
    EXPECT_EQ(holders(), 1U) << "counted";
    EXPECT_EQ(code_of([&] { wanted.lock(); }), errc::deadlock);
  }
  EXPECT_EQ(holders(), 0U);
  {
    std::unique_lock one{wanted};
    EXPECT_EQ(wanted.current_hold().id().to_string(), holder_of("a"));
    EXPECT_EQ(code_of([&] { wanted.lock_shared(); }), errc::deadlock);
    EXPECT_FALSE(in_background([&] { return wanted.try_lock_shared(); }).get());
  }
  EXPECT_EQ(code_of([&] { wanted.unlock_shared(); }), errc::hold_lost);
}

TEST_P(shared_mutex_test, can_be_locked_for_writing_after_a_read_was_lost) {
  shared_mutex wanted{db, "a"};
  wanted.lock_shared();
  ASSERT_TRUE(admin{db}.release("a"));
  ASSERT_TRUE(eventually([&] { return !wanted.current_hold().valid(); }));
  wanted.lock();
  EXPECT_TRUE(wanted.current_hold().valid()) << "the latest counts";
  wanted.unlock();
  EXPECT_EQ(wanted.current_hold().loss(), loss::forced) << "of the read, which is still to be unlocked";
  wanted.unlock_shared();
}

TEST_P(shared_mutex_test, a_thread_that_reads_enters_again_before_a_writer_who_waits) {
  shared_mutex wanted{db, "a"};
  wanted.lock_shared();
  auto write = writer(other);
  wanted.lock_shared();
  wanted.unlock_shared();
  EXPECT_EQ(queued("a"), 1U);
  wanted.unlock_shared();
  EXPECT_TRUE(write.get());
}

TEST_P(shared_mutex_test, another_kind_of_that_name_is_refused) {
  shared_mutex(db, "a").acquire_shared().release();
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(other, "a").try_acquire(); }), errc::mismatch);
}

TEST_P(shared_mutex_test, force_takes_it_from_all_readers) {
  hold one = shared_mutex(db, "a").acquire_shared();
  hold two = shared_mutex(other, "a").acquire_shared();
  EXPECT_TRUE(admin(db).release("a"));
  EXPECT_EQ(holders(), 0U);
  EXPECT_EQ(one.release(), release_result::lost);
  EXPECT_EQ(two.release(), release_result::lost);
}

ROWLOCK_FOR_EACH_STORE(shared_mutex_test);

class shared_mutex_clock_test : public virtual_client_test {};

TEST_F(shared_mutex_clock_test, readers_and_writers_are_renewed_as_long_as_they_hold) {
  client db = new_client();
  client other = new_client();
  const hold reader = shared_mutex(db, "a").acquire_shared();
  const hold writer = shared_mutex(db, "b").acquire();
  pass_renewals(db, 4);
  EXPECT_TRUE(reader) << "after more than its ttl";
  EXPECT_TRUE(writer);
  EXPECT_FALSE(shared_mutex(other, "a").try_acquire());
  EXPECT_FALSE(shared_mutex(other, "b").try_acquire_shared());
}

// What a hold says about itself agrees with the database, also after an answer was lost.
class shared_mutex_doubt_test : public virtual_client_test {
 protected:
  template <class Call>
  auto run(Call call) {
    auto running = in_background(std::move(call));
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    return running.get();
  }
  std::size_t permits() const {
    const auto tables = server->snapshot();
    const auto found = tables.permits.find("c");
    return found == tables.permits.end() ? 0 : found->second.size();
  }

  client db = new_client();
  shared_mutex catalog{db, "c"};
};

TEST_F(shared_mutex_doubt_test, a_downgrade_whose_answer_was_lost_is_done) {
  hold held = catalog.acquire();
  const auto token = held.token();
  faults.lose_answer("edit");
  run([&] { catalog.downgrade(held); });
  EXPECT_EQ(held.weight(), 1);
  EXPECT_EQ(held.token(), token);
  EXPECT_EQ(permits(), 1U);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(permits(), 0U);
}

TEST_F(shared_mutex_doubt_test, an_upgrade_whose_answer_was_lost_is_done) {
  hold held = catalog.acquire_shared();
  const auto token = held.token();
  faults.lose_answer("edit");
  EXPECT_TRUE(run([&] { return catalog.try_upgrade(held); }));
  EXPECT_EQ(held.weight(), 1'000'000);
  EXPECT_GT(held.token(), token);
  EXPECT_EQ(holder_of("c"), held.id().to_string());
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(holder_of("c"), "");
}

TEST_F(shared_mutex_doubt_test, a_downgrade_that_stays_in_doubt_leaves_a_reader) {
  hold held = catalog.acquire();
  faults.lose_answer("edit", 100'000);
  faults.lose_request("show", 100'000);
  EXPECT_EQ(run([&] { return code_of([&] { catalog.downgrade(held); }); }), errc::unreachable);
  faults.forget();
  EXPECT_EQ(permits(), 1U) << "it was done";
  EXPECT_TRUE(held);
  EXPECT_EQ(held.weight(), 1) << "whatever was done, it may read";
  EXPECT_TRUE(primitives::access::state(held)->is_in_doubt()) << "so a guard asks the database";
  run([&] { catalog.downgrade(held); });
  EXPECT_FALSE(primitives::access::state(held)->is_in_doubt());
  EXPECT_EQ(run([&] { return held.release(); }), release_result::released);
  EXPECT_EQ(permits(), 0U);
}

TEST_F(shared_mutex_doubt_test, an_upgrade_that_stays_in_doubt_is_released_as_what_it_is) {
  hold held = catalog.acquire_shared();
  faults.lose_answer("edit", 100'000);
  faults.lose_request("show", 100'000);
  EXPECT_EQ(run([&] { return code_of([&] { std::ignore = catalog.try_upgrade(held); }); }),
            errc::unreachable);
  faults.forget();
  EXPECT_EQ(holder_of("c"), held.id().to_string()) << "it was done";
  EXPECT_TRUE(held);
  EXPECT_EQ(held.weight(), 1) << "whatever was done, it may read";
  EXPECT_TRUE(primitives::access::state(held)->is_in_doubt()) << "so a guard asks the database";
  EXPECT_EQ(run([&] { return held.release(); }), release_result::released);
  EXPECT_EQ(holder_of("c"), "");
}

// Somebody keeps the row locked after the answer was lost, so the client reads the hold without locking the row.
TEST_F(shared_mutex_doubt_test, a_change_in_doubt_is_read_where_the_row_is_kept) {
  hold held = catalog.acquire_shared();
  faults.lose_answer("edit");
  auto changing = in_background([&] { return catalog.try_upgrade(held); });
  ASSERT_TRUE(eventually([&] { return holder_of("c") == held.id().to_string(); }));
  server->lock_row("c");
  ASSERT_TRUE(soon([&] { return changing.wait_for(0s) == std::future_status::ready; }));
  server->unlock_row("c");
  EXPECT_TRUE(changing.get());
  EXPECT_EQ(held.weight(), 1'000'000);
  EXPECT_EQ(held.token().value(), server->snapshot().locks.at("c").row.token);
}

// Threads join the queue beyond the part that is read; the sweep that follows grants them the lock.
class many_readers_test : public virtual_client_test {
 protected:
  static constexpr auto many = store::queue_window + 8;

  std::vector<std::future<hold>> waiting_readers() {
    std::vector<std::future<hold>> readers;
    for (std::size_t i = 0; i < many; ++i) {
      readers.push_back(in_background([&] { return shared_mutex(db, "a").acquire_shared(); }));
    }
    EXPECT_TRUE(soon([&] { return queued("a") == many && knows_places(db, many); }));
    return readers;
  }
  void expect_all_granted(std::vector<std::future<hold>> readers) {
    const auto is_over = [](const auto& reader) { return reader.wait_for(0s) == std::future_status::ready; };
    const bool all_are = soon([&] { return std::ranges::all_of(readers, is_over); });
    EXPECT_TRUE(all_are) << queued("a") << " still wait";
    if (!all_are) db.close();  // so that nobody waits for ever
    for (auto& reader : readers) EXPECT_NO_THROW(EXPECT_TRUE(reader.get()));
  }

  client db = new_client();
};

TEST_F(many_readers_test, are_granted_beyond_the_part_of_the_queue_that_is_read) {
  auto held = std::make_optional(shared_mutex(db, "a").acquire());
  auto readers = waiting_readers();
  held.reset();
  expect_all_granted(std::move(readers));
}

// The sweep for the rest is sent after the answer.
TEST_F(many_readers_test, are_all_granted_although_the_releases_answer_was_lost) {
  auto held = std::make_optional(shared_mutex(db, "a").acquire());
  auto readers = waiting_readers();
  faults.lose_answer("edit");
  auto release = in_background([&] { held.reset(); });
  EXPECT_TRUE(soon([&] { return release.wait_for(0s) == std::future_status::ready; }));
  expect_all_granted(std::move(readers));
}

TEST_F(many_readers_test, are_all_granted_although_the_downgrades_answer_was_lost) {
  hold held = shared_mutex(db, "a").acquire();
  auto readers = waiting_readers();
  faults.lose_answer("edit");
  auto downgrade = in_background([&] { shared_mutex(db, "a").downgrade(held); });
  EXPECT_TRUE(soon([&] { return downgrade.wait_for(0s) == std::future_status::ready; }));
  expect_all_granted(std::move(readers));
}

TEST_F(many_readers_test, need_no_edit_where_nobody_waits) {
  shared_mutex lock{db, "a"};
  counting_semaphore counted{db, "b", 4};
  lock.acquire_shared().release();
  counted.acquire().release();
  const int before = faults.count("edit");
  {
    const hold one = lock.acquire_shared();
    const hold other = in_background([&] { return lock.acquire_shared(); }).get();
    const hold permits = counted.acquire(3);
    EXPECT_GT(other.token(), one.token());
    EXPECT_EQ(server->snapshot().locks.at("b").row.in_use, 3);
  }
  EXPECT_TRUE(lock.try_acquire());
  EXPECT_TRUE(counted.try_acquire(4));
  EXPECT_EQ(faults.count("edit"), before);
}

// Requests that come while a statement is under way are sent in the next one.
class crowd_of_readers_test : public many_readers_test {
 protected:
  static constexpr std::size_t many = 20;

  // The close settles requests that still wait while their callers exist.
  void TearDown() override { db.close(); }
  // Makes all requests while the first statement that reaches the database hangs.
  void all_ask(const std::function<void()>& everybody) {
    shared_mutex(db, "a").acquire_shared().release();
    faults.hang("acquire");
    ask(shared(lock));
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    everybody();
    edits_before = faults.count("edit");
    server->unblock();
  }
  void ask(const wanted& what) {
    acquire_async(at_once, what, [this](acquired one) {
      const std::lock_guard own{guard};
      if (one) holds.push_back(std::move(one.hold));
    });
  }
  std::size_t granted() {
    const std::lock_guard own{guard};
    return holds.size();
  }
  model::lock_row row() const { return server->snapshot().locks.at("a").row; }
  int edits() const { return faults.count("edit") - edits_before; }

  shared_mutex lock{db, "a"};
  const executor at_once = [](rowlock::task next) { next(); };
  std::mutex guard;
  std::vector<hold> holds;
  int edits_before = 0;
};

TEST_F(crowd_of_readers_test, is_granted_in_one_edit) {
  all_ask([&] {
    for (std::size_t i = 1; i < many; ++i) ask(shared(lock));
  });
  ASSERT_TRUE(soon([&] { return granted() == many; }));
  EXPECT_LE(edits(), 2);
  std::set<fencing_token> tokens;
  for (const auto& one : holds) tokens.insert(one.token());
  EXPECT_EQ(tokens.size(), many);
  EXPECT_EQ(row().in_use, std::int64_t{many});
}

TEST_F(crowd_of_readers_test, whose_answer_was_lost_is_granted_once) {
  all_ask([&] {
    for (std::size_t i = 1; i < many; ++i) ask(shared(lock));
    faults.lose_answer("edit");
  });
  ASSERT_TRUE(soon([&] { return granted() == many; }));
  EXPECT_EQ(row().in_use, std::int64_t{many});
  EXPECT_EQ(server->snapshot().permits.at("a").size(), many);
}

TEST_F(crowd_of_readers_test, leaves_in_one_edit) {
  all_ask([&] {
    for (std::size_t i = 1; i < many; ++i) ask(shared(lock));
  });
  ASSERT_TRUE(soon([&] { return granted() == many; }));
  const int before = faults.count("edit");
  db.close();
  EXPECT_LE(faults.count("edit") - before, 2);
  EXPECT_EQ(row().in_use, 0);
}

TEST_F(crowd_of_readers_test, waits_behind_a_writer_who_came_before_it) {
  all_ask([&] {
    ask(lock);
    for (std::size_t i = 2; i < many; ++i) ask(shared(lock));
  });
  ASSERT_TRUE(soon([&] { return queued("a") == many - 1; }));
  EXPECT_LE(edits(), 2);
  EXPECT_EQ(server->snapshot().queues.at("a").begin()->second.mode, model::lock_mode::exclusive);
  EXPECT_TRUE(eventually([&] { return granted() == 1; }));
}

}  // namespace
}  // namespace rowlock::test
