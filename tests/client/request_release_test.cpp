// Requesting that the holder of a lock release it.
#include "client/client_test.hpp"

#include "support/background.hpp"

#include <atomic>

namespace rowlock::test {
namespace {

class request_release_test : public client_test {
 protected:
  // A client that learns of a request at once, or with its next renewal if the store must be polled.
  client holding_client() {
    return new_client(has_mysql_dialect(GetParam()) ? quick_to_renew() : slow_to_renew());
  }
  std::future<release_request_result> asking(const std::string& name, release_request_options how) {
    return in_background([this, name, how] { return admin{db}.request_release(name, how); });
  }

  client db = new_client();
  client holder = holding_client();
};

TEST_P(request_release_test, reaches_the_holder_with_its_reason_and_time) {
  hold held = mutex(holder, "a").acquire();
  const auto asked = held.release_requested();
  EXPECT_FALSE(asked.stop_requested());
  EXPECT_FALSE(held.request());
  auto answer = asking("a", {.reason = "Ümzug \"heute\"", .within = 1h});
  ASSERT_TRUE(eventually([&] { return asked.stop_requested(); }));
  ASSERT_TRUE(held.request());
  EXPECT_EQ(held.request()->reason, "Ümzug \"heute\"");
  EXPECT_GT(held.request()->remaining, 50min);
  EXPECT_LE(held.request()->remaining, 1h);
  EXPECT_TRUE(held) << "nothing happens to the hold";
  EXPECT_TRUE(held.release_requested().stop_requested()) << "even when it is read later";
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(answer.get(), release_request_result::released);
}

TEST_P(request_release_test, calls_back_once) {
  const hold held = mutex(holder, "a").acquire();
  std::atomic<int> calls{0};
  const std::stop_callback on_request{held.release_requested(), [&] { ++calls; }};
  EXPECT_EQ(admin{db}.request_release("a", {.within = 0ms}), release_request_result::kept);
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  EXPECT_EQ(admin{db}.request_release("a", {.reason = "again", .within = 0ms}), release_request_result::kept);
  ASSERT_TRUE(eventually([&] { return held.request()->reason == "again"; }));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(holder.stats().release_requests, 1U);
}

TEST_P(request_release_test, of_what_nobody_holds_says_so) {
  EXPECT_EQ(admin{db}.request_release("a"), release_request_result::unheld);
  mutex(holder, "a").acquire().release();
  EXPECT_EQ(admin{db}.request_release("a"), release_request_result::unheld);
  EXPECT_FALSE(admin{db}.show("a")->request);
}

TEST_P(request_release_test, of_what_only_rests_says_so) {
  for (const bool shared : {false, true}) {
    const std::string name = shared ? "shared" : "a";
    shared_mutex readers{holder, "shared"};
    mutex plain{holder, "a"};
    hold held = shared ? readers.acquire_shared({.min_hold = 1h}) : plain.acquire({.min_hold = 1h});
    auto asks =
        in_background([&] { return admin{db}.request_release(name, {.within = 1h, .then_force = true}); });
    ASSERT_TRUE(eventually([&] { return held.release_requested().stop_requested(); }));
    held.release();
    EXPECT_EQ(asks.get(), release_request_result::released);
    EXPECT_TRUE(is_held(name)) << "it rests, and nobody has ended that";
    EXPECT_EQ(admin{db}.request_release(name), release_request_result::unheld);
  }
}

TEST_P(request_release_test, takes_it_by_force_when_asked_to_after_the_time) {
  hold held = mutex(holder, "a").acquire();
  EXPECT_EQ(admin{db}.request_release("a", {.within = 10ms, .then_force = true}),
            release_request_result::forced);
  EXPECT_FALSE(is_held("a"));
  ASSERT_TRUE(eventually([&] { return held.loss() == loss::forced; }));
}

// The hold keeps its id, and gets a later token.
TEST_P(request_release_test, means_also_a_reader_that_upgrades_afterwards) {
  shared_mutex catalog{holder, "c"};
  hold reader = catalog.acquire_shared();
  auto answer = asking("c", {.within = 1h});
  ASSERT_TRUE(eventually([&] { return reader.request().has_value(); }));
  ASSERT_TRUE(catalog.try_upgrade(reader));
  const auto before = db.stats().statements;
  ASSERT_TRUE(eventually([&] { return db.stats().statements > before + 3; })) << "it looks for a release";
  EXPECT_EQ(answer.wait_for(0s), std::future_status::timeout);
  reader.release();
  EXPECT_EQ(answer.get(), release_request_result::released);
}

TEST_P(request_release_test, takes_it_by_force_from_a_reader_that_has_upgraded) {
  shared_mutex catalog{holder, "c"};
  hold reader = catalog.acquire_shared();
  // Long enough to learn of the request and to upgrade on a busy machine.
  auto answer = asking("c", {.within = 5s, .then_force = true});
  ASSERT_TRUE(eventually([&] { return reader.request().has_value(); }));
  ASSERT_TRUE(catalog.try_upgrade(reader));
  EXPECT_EQ(answer.get(), release_request_result::forced);
  EXPECT_FALSE(is_held("c"));
}

TEST_P(request_release_test, that_is_stopped_forces_nothing) {
  const hold held = mutex(holder, "a").acquire();
  std::stop_source stop;
  const auto before = db.stats().statements;
  auto answer = asking("a", {.within = 1h, .then_force = true, .stop = stop.get_token()});
  // The holder may learn of the request before the caller begins to look for the release, which it does again and
  // again.
  ASSERT_TRUE(eventually([&] { return held.request() && db.stats().statements > before + 5; }));
  stop.request_stop();
  EXPECT_EQ(answer.get(), release_request_result::kept);
  EXPECT_TRUE(is_held("a"));
}

TEST_P(request_release_test, means_all_that_share_a_lock_and_no_later_holder) {
  shared_mutex catalog{holder, "c"};
  hold first = catalog.acquire_shared();
  hold second = catalog.acquire_shared();
  auto answer = asking("c", {.within = 1h});
  ASSERT_TRUE(eventually([&] { return first.request() && second.request(); }));
  const hold later = shared_mutex(db, "c").acquire_shared();
  first = {};
  EXPECT_EQ(answer.wait_for(0s), std::future_status::timeout);
  second = {};
  EXPECT_EQ(answer.get(), release_request_result::released);
  EXPECT_FALSE(later.request());
  EXPECT_FALSE(admin{db}.show("c")->request) << "the holder that was asked is gone";
}

TEST_P(request_release_test, is_shown_while_one_of_the_asked_holders_holds_it) {
  const hold held = mutex(holder, "a").acquire();
  EXPECT_EQ(admin{db}.request_release("a", {.reason = "deploy", .within = 0ms}),
            release_request_result::kept);
  const auto shown = admin{db}.show("a");
  ASSERT_TRUE(shown && shown->request);
  EXPECT_EQ(shown->request->reason, "deploy");
  EXPECT_EQ(shown->request->remaining, 0ms);
}

TEST_P(request_release_test, reaches_a_holder_in_the_same_client) {
  const hold held = mutex(holder, "a").acquire();
  EXPECT_EQ(admin{holder}.request_release("a", {.within = 0ms}), release_request_result::kept);
  EXPECT_TRUE(eventually([&] { return held.release_requested().stop_requested(); }));
}

TEST_P(request_release_test, refuses_impossible_options) {
  const hold held = mutex(holder, "a").acquire();
  const auto refusal = [&](const release_request_options& how) {
    return code_of([&] { std::ignore = admin{db}.request_release("a", how); });
  };
  EXPECT_EQ(refusal({.within = -1ms}), errc::invalid_argument);
  EXPECT_EQ(refusal({.within = 25h}), errc::invalid_argument);
  EXPECT_EQ(refusal({.reason = std::string(4097, 'x')}), errc::invalid_argument);
  EXPECT_FALSE(held.request());
}

ROWLOCK_FOR_EACH_STORE(request_release_test);

// The hold stands on a lease of its transfer, so no client learns of the request and reads it.
class request_release_order_test : public virtual_client_test {
 protected:
  // The request has looked for the last time before it forces, and goes on after server->unblock().
  std::future<release_request_result> requesting() {
    faults.hang_answer("show");
    auto answer =
        in_background([this] { return admin{db}.request_release("a", {.within = 0ms, .then_force = true}); });
    EXPECT_TRUE(eventually([&] { return server->blocked() == 1; }));
    return answer;
  }

  client db = new_client();
  client other = new_client();
};

// The adopted hold has another id, and the token whose release was requested.
TEST_F(request_release_order_test, forces_a_hold_that_was_adopted_after_the_last_look) {
  const auto text = mutex(other, "a").acquire().transfer(1h);
  auto answer = requesting();
  const hold adopted = adopt(other, text);
  ASSERT_TRUE(adopted);
  server->unblock();
  EXPECT_EQ(answer.get(), release_request_result::forced);
  EXPECT_TRUE(holder_of("a").empty());
}

TEST_F(request_release_order_test, forces_what_was_adopted_beside_a_hold_that_was_not) {
  shared_mutex catalog{other, "a"};
  const auto unused = catalog.acquire_shared().transfer(1h);
  const auto text = catalog.acquire_shared().transfer(1h);
  auto answer = requesting();
  const hold adopted = adopt(other, text);
  ASSERT_TRUE(adopted);
  server->unblock();
  EXPECT_EQ(answer.get(), release_request_result::forced);
  EXPECT_TRUE(shared_mutex(db, "a").try_acquire()) << "nobody reads any more";
}

// The force is under way when the holder releases.
TEST_F(request_release_order_test, leaves_what_begins_to_rest_after_the_last_look) {
  for (const bool shared : {false, true}) {
    shared_mutex readers{other, "shared"};
    mutex plain{other, "plain"};
    hold held = shared ? readers.acquire_shared({.min_hold = 1h}) : plain.acquire({.min_hold = 1h});
    const auto rests = [&] {
      const auto tables = server->snapshot();
      return shared ? tables.permits.contains("shared") : tables.locks.at("plain").row.lease.has_value();
    };
    faults.hang("edit", 1);
    auto answer = in_background(
        [&] { return admin{db}.request_release(held.name(), {.within = 0ms, .then_force = true}); });
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(rests());
    server->unblock();
    EXPECT_EQ(answer.get(), release_request_result::released);
    EXPECT_TRUE(rests());
  }
}

TEST_F(request_release_order_test, a_look_without_an_answer_is_repeated) {
  hold held = mutex(other, "a").acquire();
  faults.lose_answer("show", 3);
  auto answer = in_background([this] { return admin{db}.request_release("a", {.within = 1h}); });
  ASSERT_TRUE(soon([&] { return faults.count("show") > 3; }));
  held.release();
  ASSERT_TRUE(soon([&] { return answer.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(answer.get(), release_request_result::released);
}

TEST_F(request_release_order_test, looks_without_an_answer_end_the_call_after_a_while) {
  const hold held = mutex(other, "a").acquire();
  faults.lose_answer("show", 1'000'000);
  auto answer = in_background(
      [this] { return code_of([this] { std::ignore = admin{db}.request_release("a", {.within = 1h}); }); });
  ASSERT_TRUE(soon([&] { return answer.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(answer.get(), errc::unreachable);
  faults.forget();
  EXPECT_TRUE(soon([&] { return held.request().has_value(); })) << "the holders are asked all the same";
}

TEST_F(request_release_order_test, a_hold_that_was_released_after_the_last_look_is_released) {
  const auto text = mutex(other, "a").acquire().transfer(1h);
  auto answer = requesting();
  EXPECT_EQ(adopt(other, text).release(), release_result::released);
  server->unblock();
  EXPECT_EQ(answer.get(), release_request_result::released);
}

}  // namespace
}  // namespace rowlock::test
