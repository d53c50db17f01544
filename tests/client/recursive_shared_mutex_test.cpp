#include "client/client_test.hpp"

#include "support/background.hpp"

#include <mutex>
#include <shared_mutex>

namespace rowlock::test {
namespace {

class recursive_shared_mutex_test : public client_test {
 protected:
  bool others_may_read() { return shared_mutex(other, "c").try_acquire_shared().valid(); }
  bool others_may_write() { return shared_mutex(other, "c").try_acquire().valid(); }
  // How many grants the call requests; 0: it is counted locally.
  std::uint64_t grants_of(const std::function<void()>& call) const {
    const auto before = db.stats().acquired;
    call();
    return db.stats().acquired - before;
  }

  client db = new_client(quick_to_renew());
  client other = new_client();
  recursive_shared_mutex catalog{db, "c"};
};

TEST_P(recursive_shared_mutex_test, is_entered_again_by_its_writer_without_a_grant) {
  catalog.lock();
  const auto token = catalog.current_hold().token();
  EXPECT_EQ(grants_of([&] {
              const std::scoped_lock again{catalog};
              const std::shared_lock reading{catalog};
              EXPECT_TRUE(catalog.try_lock());
              EXPECT_TRUE(catalog.try_lock_for(1h));
              EXPECT_TRUE(catalog.try_lock_shared());
              EXPECT_TRUE(catalog.try_lock_shared_for(1h));
              EXPECT_EQ(catalog.write_depth(), 4U);
              EXPECT_EQ(catalog.read_depth(), 3U);
              EXPECT_EQ(catalog.current_hold().token(), token);
              catalog.unlock();
              catalog.unlock();
              catalog.unlock_shared();
              catalog.unlock_shared();
            }),
            0U);
  EXPECT_EQ(catalog.write_depth(), 1U);
  EXPECT_EQ(catalog.read_depth(), 0U);
  EXPECT_FALSE(others_may_read());
  catalog.unlock();
  EXPECT_TRUE(others_may_write());
  EXPECT_FALSE(catalog.is_locked());
}

TEST_P(recursive_shared_mutex_test, a_reader_enters_again_before_a_writer_who_waits_and_may_not_write) {
  catalog.lock_shared();
  auto writer = in_background([&] { return shared_mutex(other, "c").acquire(); });
  ASSERT_TRUE(eventually([&] { return queued("c") == 1; }));
  EXPECT_EQ(grants_of([&] { catalog.lock_shared(); }), 0U);
  EXPECT_EQ(code_of([&] { catalog.lock(); }), errc::deadlock);
  EXPECT_FALSE(catalog.try_lock());
  EXPECT_FALSE(catalog.try_lock_for(1h)) << "at once: it would wait for itself";
  EXPECT_EQ(catalog.read_depth(), 2U) << "nothing has changed";
  catalog.unlock_shared();
  EXPECT_EQ(queued("c"), 1U);
  catalog.unlock_shared();
  EXPECT_TRUE(writer.get());
}

TEST_P(recursive_shared_mutex_test, a_writer_that_stops_writing_before_it_stops_reading_becomes_a_reader) {
  catalog.lock();
  catalog.lock();
  catalog.lock_shared();
  const auto id = catalog.current_hold().id();
  auto writer = in_background([&] { return shared_mutex(other, "c").acquire(); });
  ASSERT_TRUE(eventually([&] { return queued("c") == 1; }));
  catalog.unlock();
  EXPECT_EQ(catalog.holders().at(0).mode, lock_mode::exclusive) << "it writes still";
  catalog.unlock();
  const auto seen = catalog.holders();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].mode, lock_mode::shared);
  EXPECT_EQ(seen[0].hold_id, id);
  EXPECT_EQ(queued("c"), 1U) << "no writer comes in between";
  EXPECT_EQ(code_of([&] { catalog.lock(); }), errc::deadlock) << "it only reads now";
  EXPECT_EQ(code_of([&] { catalog.unlock(); }), errc::hold_lost);
  catalog.unlock_shared();
  EXPECT_TRUE(writer.get());
}

TEST_P(recursive_shared_mutex_test, a_reader_that_stops_reading_before_it_stops_writing_writes_on) {
  catalog.lock();
  catalog.lock_shared();
  catalog.unlock_shared();
  EXPECT_EQ(catalog.holders().at(0).mode, lock_mode::exclusive);
  EXPECT_FALSE(others_may_read());
  EXPECT_EQ(code_of([&] { catalog.unlock_shared(); }), errc::hold_lost);
  catalog.unlock();
  EXPECT_FALSE(catalog.is_locked());
}

TEST_P(recursive_shared_mutex_test, readers_join_a_writer_that_only_reads_now) {
  catalog.lock();
  catalog.lock_shared();
  catalog.unlock();
  EXPECT_TRUE(others_may_read());
  EXPECT_FALSE(others_may_write());
  catalog.unlock_shared();
  EXPECT_TRUE(others_may_write());
}

TEST_P(recursive_shared_mutex_test, is_locked_by_one_thread_and_not_by_another) {
  catalog.lock();
  in_background([&] {
    EXPECT_FALSE(catalog.try_lock());
    EXPECT_FALSE(catalog.try_lock_shared());
    EXPECT_EQ(catalog.write_depth(), 0U);
    EXPECT_EQ(code_of([&] { catalog.unlock(); }), errc::hold_lost);
    EXPECT_EQ(code_of([&] { std::ignore = catalog.current_hold(); }), errc::hold_lost);
  }).get();
  catalog.unlock();
  const std::shared_lock reading{catalog};
  in_background([&] { const std::shared_lock also_reading{catalog}; }).get();
  EXPECT_EQ(catalog.read_depth(), 1U);
}

TEST_P(recursive_shared_mutex_test, a_lost_hold_is_not_entered_again) {
  catalog.lock();
  catalog.lock_shared();
  const auto token = catalog.current_hold().token();
  admin{other}.release("c");
  ASSERT_TRUE(eventually([&] { return !catalog.current_hold(); }));
  EXPECT_EQ(catalog.write_depth(), 0U);
  catalog.lock_shared();
  EXPECT_GT(catalog.current_hold().token(), token);
  EXPECT_EQ(catalog.read_depth(), 1U);
  EXPECT_EQ(catalog.holders().at(0).mode, lock_mode::shared);
  catalog.unlock();  // unlocks the lost hold, which becomes no reader; nothing is thrown
  EXPECT_EQ(catalog.read_depth(), 1U);
  catalog.unlock_shared();
  EXPECT_FALSE(catalog.is_locked());
  catalog.unlock_shared();
  EXPECT_EQ(code_of([&] { catalog.unlock_shared(); }), errc::hold_lost);
}

TEST_P(recursive_shared_mutex_test, what_is_locked_at_its_end_is_unlocked) {
  {
    recursive_shared_mutex mine{db, "c"};
    mine.lock();
    mine.lock_shared();
    EXPECT_FALSE(others_may_read());
  }
  EXPECT_TRUE(eventually([&] { return others_may_write(); }));
}

TEST_P(recursive_shared_mutex_test, of_a_closed_client_says_so) {
  catalog.lock();
  db.close();
  EXPECT_EQ(code_of([&] { catalog.lock(); }), errc::closed);
  EXPECT_EQ(code_of([&] { catalog.lock_shared(); }), errc::closed);
  catalog.unlock();
}

ROWLOCK_FOR_EACH_STORE(recursive_shared_mutex_test);

class recursive_shared_mutex_doubt_test : public virtual_client_test {
 protected:
  client db = new_client();
};

// A reader that holds the lock exclusively harms nobody; an unlock() that throws would end the program.
TEST_F(recursive_shared_mutex_doubt_test, that_cannot_become_a_reader_keeps_the_lock_until_it_is_unlocked) {
  recursive_shared_mutex catalog{db, "c"};
  catalog.lock();
  catalog.lock_shared();
  faults.deny("edit");
  catalog.unlock();
  EXPECT_EQ(catalog.write_depth(), 0U);
  EXPECT_EQ(catalog.read_depth(), 1U);
  EXPECT_EQ(holder_of("c"), catalog.current_hold().id().to_string()) << "alone";
  EXPECT_EQ(code_of([&] { catalog.lock(); }), errc::deadlock);
  catalog.unlock_shared();
  EXPECT_EQ(holder_of("c"), "");
}

}  // namespace
}  // namespace rowlock::test
