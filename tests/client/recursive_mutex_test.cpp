#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class recursive_mutex_test : public client_test {
 protected:
  static std::thread::id in_thread(const std::function<void()>& work) {
    std::thread thread{work};
    const auto id = thread.get_id();
    thread.join();
    return id;
  }
  // Runs the work in a thread that has that id. False if no thread got the id.
  static bool in_thread_with_id(std::thread::id wanted, const std::function<void()>& work) {
    for (int tries = 0; tries < 1000; ++tries) {
      bool done = false;
      in_thread([&] {
        if (std::this_thread::get_id() != wanted) return;
        work();
        done = true;
      });
      if (done) return true;
    }
    return false;
  }

  client db = new_client();
};

TEST_P(recursive_mutex_test, is_entered_again_without_a_statement) {
  recursive_mutex a{db, "a"};
  hold outer = a.acquire();
  side().show("a");
  const auto before = db.stats();
  hold inner = a.acquire();
  const auto tried = a.try_acquire();
  const auto timed = a.try_acquire_for(1h);
  ASSERT_TRUE(tried);
  ASSERT_TRUE(timed);
  EXPECT_EQ(db.stats().acquired, before.acquired) << "the database was not asked";
  for (const hold* again : std::initializer_list<const hold*>{&inner, &tried, &timed}) {
    EXPECT_EQ(again->id(), outer.id());
    EXPECT_EQ(again->token(), outer.token());
  }
  EXPECT_EQ(a.depth(), 4U);
}

TEST_P(recursive_mutex_test, is_free_after_its_last_release_in_any_order) {
  recursive_mutex a{db, "a"};
  auto first = std::make_optional(a.acquire());
  auto second = std::make_optional(a.acquire());
  EXPECT_EQ(first->release(), release_result::released);
  first.reset();
  EXPECT_TRUE(*second);
  EXPECT_TRUE(is_held("a"));
  second.reset();
  EXPECT_TRUE(eventually([&] { return !is_held("a"); }));
  EXPECT_EQ(a.depth(), 0U);
}

TEST_P(recursive_mutex_test, two_objects_of_a_name_are_one_lock) {
  recursive_mutex one{db, "a"};
  recursive_mutex other{db, "a"};
  const hold outer = one.acquire();
  const hold inner = other.acquire();
  EXPECT_EQ(inner.id(), outer.id());
  EXPECT_EQ(one.depth(), 2U);
}

TEST_P(recursive_mutex_test, keeps_other_threads_clients_and_plain_mutexes_out) {
  recursive_mutex a{db, "a"};
  const hold held = a.acquire();
  std::jthread{[&] {
    EXPECT_FALSE(a.try_acquire());
    EXPECT_EQ(a.depth(), 0U);
  }}.join();
  EXPECT_FALSE(recursive_mutex(new_client(), "a").try_acquire());
  EXPECT_FALSE(mutex(db, "a").try_acquire());
}

// The id of a thread that has ended is given to a later one.
TEST_P(recursive_mutex_test, keeps_a_later_thread_of_the_same_id_out) {
  recursive_mutex a{db, "a"};
  hold held;
  const auto first = in_thread([&] { held = a.acquire(); });
  ASSERT_TRUE(in_thread_with_id(first, [&] {
    EXPECT_FALSE(a.try_acquire());
    EXPECT_EQ(a.depth(), 0U);
  }));
  EXPECT_TRUE(held);
}

TEST_P(recursive_mutex_test, what_a_thread_has_locked_is_not_a_later_threads_of_the_same_id) {
  recursive_mutex a{db, "a"};
  mutex plain{db, "plain"};
  shared_mutex catalog{db, "catalog"};
  const auto first = in_thread([&] {
    a.lock();
    plain.lock();
    catalog.lock_shared();
  });
  ASSERT_TRUE(in_thread_with_id(first, [&] {
    EXPECT_EQ(code_of([&] { a.unlock(); }), errc::hold_lost);
    EXPECT_EQ(code_of([&] { plain.unlock(); }), errc::hold_lost);
    EXPECT_FALSE(plain.try_lock_for(1ms)) << "and nothing is said of a deadlock";
    EXPECT_EQ(code_of([&] { catalog.unlock_shared(); }), errc::hold_lost);
    EXPECT_EQ(code_of([&] { static_cast<void>(catalog.current_hold()); }), errc::hold_lost);
  }));
  EXPECT_TRUE(is_held("a"));
  EXPECT_TRUE(is_held("plain"));
  EXPECT_TRUE(is_held("catalog"));
}

TEST_P(recursive_mutex_test, another_thread_waits_until_the_last_release) {
  recursive_mutex a{db, "a"};
  auto outer = std::make_optional(a.acquire());
  auto inner = std::make_optional(a.acquire());
  auto other = in_background([&] { return a.acquire(); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  inner.reset();
  EXPECT_EQ(holder_of("a"), outer->id().to_string());
  EXPECT_EQ(queued("a"), 1U);
  outer.reset();
  EXPECT_TRUE(other.get());
}

TEST_P(recursive_mutex_test, a_lost_hold_is_not_entered_again) {
  client quick = new_client(quick_to_renew());
  recursive_mutex a{quick, "a"};
  for (const bool by_force : {true, false}) {
    const hold lost = a.acquire();
    if (by_force) {
      ASSERT_TRUE(admin{quick}.release("a"));
    } else {
      kill(lease_of("a"));
    }
    ASSERT_TRUE(eventually([&] { return !lost; }));
    EXPECT_EQ(a.depth(), 0U);
    const hold anew = a.acquire();
    EXPECT_NE(anew.id(), lost.id());
    EXPECT_GT(anew.token(), lost.token());
    EXPECT_EQ(a.depth(), 1U);
  }
}

TEST_P(recursive_mutex_test, locks_and_unlocks_as_often) {
  recursive_mutex a{db, "a"};
  const std::unique_lock outer{a};
  {
    const std::unique_lock inner{a};
    EXPECT_TRUE(a.try_lock());
    EXPECT_TRUE(a.try_lock_for(1h));
    EXPECT_EQ(a.current_hold().id().to_string(), holder_of("a"));
    a.unlock();
    a.unlock();
  }
  EXPECT_EQ(a.depth(), 1U);
  EXPECT_TRUE(is_held("a"));
}

TEST_P(recursive_mutex_test, one_unlock_too_many_throws) {
  recursive_mutex a{db, "a"};
  a.lock();
  a.unlock();
  EXPECT_EQ(code_of([&] { a.unlock(); }), errc::hold_lost);
  EXPECT_EQ(code_of([&] { a.current_hold(); }), errc::hold_lost);
}

TEST_P(recursive_mutex_test, keeps_the_ttl_of_its_first_entry) {
  recursive_mutex a{db, "a"};
  const hold outer = a.acquire({.ttl = 10s});
  const hold inner = a.acquire({.ttl = 1h});
  EXPECT_LE(inner.remaining(), 10s);
}

ROWLOCK_FOR_EACH_STORE(recursive_mutex_test);

class recursive_mutex_clock_test : public virtual_client_test {};

TEST_F(recursive_mutex_clock_test, re_entry_sends_nothing) {
  client db = new_client();
  recursive_mutex a{db, "a"};
  const hold outer = a.acquire();
  const auto before = db.stats().statements;
  const hold inner = a.acquire();
  EXPECT_EQ(db.stats().statements, before);
}

TEST_F(recursive_mutex_clock_test, is_renewed_until_its_last_release) {
  client db = new_client();
  recursive_mutex a{db, "a"};
  auto outer = std::make_optional(a.acquire());
  const hold inner = a.acquire();
  const auto token = inner.token();
  outer.reset();
  pass_renewals(db, 4);
  EXPECT_TRUE(inner) << "after more than its ttl";
  EXPECT_EQ(inner.token(), token);
  EXPECT_EQ(holder_of("a"), inner.id().to_string());
  EXPECT_EQ(a.depth(), 1U);
}

}  // namespace
}  // namespace rowlock::test
