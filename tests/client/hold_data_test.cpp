// The data of a hold: who sees it, when it stays, and when it is gone.
#include "client/decision/hold_data.hpp"

#include "client/call/transfer.hpp"
#include "client/client_test.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

#include <unistd.h>

namespace rowlock::test {
namespace {

TEST(hold_data_of_a_token_test, is_read_under_the_token_that_it_was_written_with) {
  using client_layer::said_under;
  EXPECT_EQ(said_under(7, client_layer::with_token(7, "12 34\n")), "12 34\n");
  EXPECT_EQ(said_under(7, "7 "), "");
  for (const char* other : {"8 x", "70 x", "x", "", "7", "-7 x", " 7 x"})
    EXPECT_EQ(said_under(7, other), "") << other;
  EXPECT_EQ(said_under(7, {}), "");
}

class hold_data_client_test : public client_test {
 protected:
  // The data that everybody sees beside the only holder.
  std::string data(const std::string& name) {
    const auto seen = admin{other}.show(name).value();
    EXPECT_EQ(seen.holders.size(), 1U);
    return seen.holders.at(0).data;
  }
  std::vector<std::string> all_data(const std::string& name) {
    std::vector<std::string> all;
    const auto seen = admin{other}.show(name).value();
    for (const auto& one : seen.holders) all.push_back(one.data);
    return all;
  }
  // Edits as a program of an older version does, which knows nothing of the data of a permit.
  void edit_as_an_older_version(const std::string& name,
                                const std::function<store::lock_change(const store::lock_view&)>& decide) {
    const store::edit_request request{name, {}, decide};
    ASSERT_EQ(side().edit({&request, 1}).front(), store::edit_result::committed);
  }

  const std::vector<std::string> texts{"deploy 4711, build server", "", "it's \"Größe\" \\ 7\n\x1b[2J",
                                       "12 34", std::string(4096, 'x')};
  client db = new_client(slow_to_renew());
  client other = new_client();
};

TEST_P(hold_data_client_test, everybody_sees_what_was_said_last) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(data("a"), "");
  for (const auto& text : texts) {
    held.set_data(text);
    EXPECT_EQ(data("a"), text);
    EXPECT_EQ(admin{other}.list().at(0).holders.at(0).data, text);
    EXPECT_EQ(mutex(other, "a").holders().at(0).data, text);
  }
  EXPECT_TRUE(held);
}

TEST_P(hold_data_client_test, each_permit_has_its_own) {
  counting_semaphore slots{db, "s", 5};
  shared_mutex catalog{db, "c"};
  const hold one = slots.acquire(2);
  const hold two = counting_semaphore(other, "s", 5).acquire();
  const hold reader = catalog.acquire_shared();
  for (const auto& text : texts) {
    one.set_data(text);
    reader.set_data(text);
    EXPECT_EQ(all_data("s"), (std::vector<std::string>{text, ""}));
    EXPECT_EQ(data("c"), text);
  }
  two.set_data("shard 3");
  EXPECT_EQ(all_data("s"), (std::vector<std::string>{texts.back(), "shard 3"}));
}

TEST_P(hold_data_client_test, a_new_hold_begins_without) {
  for (int round = 0; round < 2; ++round) {
    hold held = mutex(db, "a").acquire();
    EXPECT_EQ(data("a"), "");
    held.set_data("mine");
    auto waiter = waiting(other, "a");
    held.release();
    const hold next = waiter.take();
    EXPECT_EQ(data("a"), "") << "it was handed over";
  }
  counting_semaphore slots{db, "s", 5};
  hold permit = slots.acquire();
  permit.set_data("mine");
  permit.release();
  const hold next = slots.acquire();
  EXPECT_EQ(data("s"), "");
}

TEST_P(hold_data_client_test, who_holds_nothing_says_nothing) {
  const auto refused = [](const hold& held) { return code_of([&] { held.set_data("still me"); }); };
  EXPECT_EQ(refused({}), errc::hold_lost);
  hold over = mutex(db, "a").acquire();
  over.release();
  EXPECT_EQ(refused(over), errc::hold_lost);

  // The hold was taken away before the holder knows.
  const hold forced = mutex(db, "a").acquire();
  forced.set_data("mine");
  ASSERT_TRUE(admin{other}.release("a"));
  EXPECT_EQ(refused(forced), errc::hold_lost);
  const hold next = mutex(other, "a").acquire();
  EXPECT_EQ(data("a"), "");

  counting_semaphore slots{db, "s", 5};
  const hold permit = slots.acquire();
  permit.set_data("mine");
  ASSERT_TRUE(admin{other}.release("s"));
  EXPECT_EQ(refused(permit), errc::hold_lost);

  const hold dead = mutex(db, "b").acquire();
  kill(lease_of("b"));
  EXPECT_EQ(refused(dead), errc::hold_lost);
}

TEST_P(hold_data_client_test, impossible_texts_are_refused) {
  const hold held = mutex(db, "a").acquire();
  held.set_data("good");
  for (const auto& text : {std::string(4097, 'x'), std::string{"\xff"}, std::string("a\0b", 3)}) {
    EXPECT_EQ(code_of([&] { held.set_data(text); }), errc::invalid_argument);
  }
  EXPECT_EQ(data("a"), "good");
}

TEST_P(hold_data_client_test, it_stays_through_downgrade_and_upgrade) {
  shared_mutex catalog{db, "c"};
  hold held = catalog.acquire();
  held.set_data("loading");
  catalog.downgrade(held);
  EXPECT_EQ(data("c"), "loading");
  held.set_data("reading");
  const auto token = held.token();
  ASSERT_TRUE(catalog.try_upgrade(held));
  EXPECT_GT(held.token(), token);
  EXPECT_EQ(data("c"), "reading");
  catalog.downgrade(held);
  EXPECT_EQ(data("c"), "reading");
  held.set_data("");
  ASSERT_TRUE(catalog.try_upgrade(held));
  EXPECT_EQ(data("c"), "");
  held.release();
  const hold reader = catalog.acquire_shared();
  EXPECT_EQ(data("c"), "");
}

TEST_P(hold_data_client_test, it_stays_through_a_partial_release) {
  counting_semaphore slots{db, "s", 5};
  hold held = slots.acquire(3);
  held.set_data("shards 1 to 3");
  slots.release(held, 1);
  EXPECT_EQ(held.weight(), 2);
  EXPECT_EQ(data("s"), "shards 1 to 3");
}

TEST_P(hold_data_client_test, who_adopts_a_hold_has_its_data) {
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared);
    const std::string name = shared ? "s" : "a";
    hold held = shared ? counting_semaphore(db, "s", 5).acquire(2) : mutex(db, "a").acquire();
    held.set_data("job 7");
    const auto text = held.transfer(1h);
    EXPECT_EQ(data(name), "job 7") << "while nobody has adopted it";
    const hold taken = adopt(other, text);
    ASSERT_TRUE(taken);
    EXPECT_EQ(data(name), "job 7");
    EXPECT_EQ(code_of([&] { held.set_data("still me"); }), errc::hold_lost);
    taken.set_data("job 7, second part");
    EXPECT_EQ(data(name), "job 7, second part");
  }
}

TEST_P(hold_data_client_test, who_reclaims_a_hold_begins_without) {
  const hold held = mutex(db, "a").acquire();
  const hold permit = counting_semaphore(db, "s", 5).acquire();
  for (const auto* old : {&held, &permit}) {
    old->set_data("what the dead did");
    // Reclaims as another process does, which cannot know that this process lives.
    const auto lease = side().show(old->name())->holders.at(0).lease.id;
    const auto mine = client_layer::reclaim(
        *primitives::access::engine(other),
        {client_layer::transfer_note::purpose::reclaim, lease, model::hold_id{old->id()}, old->name()});
    ASSERT_TRUE(mine);
    EXPECT_EQ(data(old->name()), "");
    primitives::access::engine(other)->releaser().release(*mine);
  }
}

TEST_P(hold_data_client_test, it_is_gone_while_the_lock_rests) {
  hold early = mutex(db, "a").acquire({.min_hold = 1h});
  early.set_data("mine");
  early.release();
  EXPECT_EQ(data("a"), "");

  hold permit = counting_semaphore(db, "s", 5).acquire(2, {.min_hold = 1h});
  permit.set_data("mine");
  permit.release();
  EXPECT_EQ(data("s"), "");

  const hold lost = mutex(db, "b", {.delay = 1h}).acquire();
  lost.set_data("mine");
  fixture().expire(lease_of("b"));
  EXPECT_FALSE(mutex(other, "b").try_acquire());
  EXPECT_EQ(data("b"), "");
}

TEST_P(hold_data_client_test, it_is_gone_with_a_name_that_was_collected) {
  hold held = mutex(db, "a").acquire();
  held.set_data("mine");
  held.release();
  ASSERT_EQ(admin{other}.collect(0s), 1);
  const hold again = mutex(db, "a").acquire();
  EXPECT_EQ(data("a"), "");
}

TEST_P(hold_data_client_test, an_inner_hold_says_the_same) {
  recursive_mutex r{db, "r"};
  const hold outer = r.acquire();
  hold inner = r.acquire();
  inner.set_data("inner");
  EXPECT_EQ(data("r"), "inner");
  inner.release();
  EXPECT_EQ(code_of([&] { inner.set_data("over"); }), errc::hold_lost);
  outer.set_data("outer");
  EXPECT_EQ(data("r"), "outer");
}

TEST_P(hold_data_client_test, of_an_office_is_what_its_leader_proclaims) {
  election here{db, "office"};
  auto leads = here.campaign();
  leads.office().set_data("10.0.0.7");
  EXPECT_EQ(election(other, "office").observe().value, "10.0.0.7");
  leads.proclaim("10.0.0.8");
  EXPECT_EQ(data("office"), "10.0.0.8");
}

TEST_P(hold_data_client_test, a_history_does_not_tell_it) {
  admin operations{other};
  operations.record({"*", 100, 24h});
  const client records = new_client();
  hold held = mutex(records, "a").acquire();
  const hold permit = counting_semaphore(records, "s", 5).acquire();
  held.set_data("one");
  permit.set_data("two");
  EXPECT_EQ(operations.history("a", 10).size(), 1U);
  EXPECT_EQ(operations.history("s", 10).size(), 1U);
  EXPECT_EQ(data("a"), "one");
  EXPECT_EQ(data("s"), "two");
}

// Programs of an older version write no data, and so must never make the old text appear beside a new hold.
TEST_P(hold_data_client_test, an_older_version_shows_nothing_that_is_over) {
  hold held = shared_mutex(db, "c").acquire();
  held.set_data("old");
  const auto lease = lease_of("c");
  const auto id = model::hold_id{held.id()};
  edit_as_an_older_version("c", [&](const store::lock_view& now) {
    store::lock_change change;  // a downgrade
    change.row = now.row;
    change.row->lease.reset();
    change.row->hold.reset();
    change.row->in_use = 1;
    change.add_permits = {{id, lease, 1, now.row.token}};
    change.durable = true;
    return change;
  });
  EXPECT_EQ(data("c"), "");
  held.set_data("known again");
  EXPECT_EQ(data("c"), "known again");
  edit_as_an_older_version("c", [&](const store::lock_view& now) {
    store::lock_change change;  // an upgrade
    change.row = now.row;
    change.row->lease = lease;
    change.row->hold = id;
    change.row->in_use = now.row.capacity;
    change.row->token = model::next_token(now.row.token, now.epoch_floor);
    change.remove_permits = {id};
    change.granted_now = true;
    change.durable = true;
    return change;
  });
  EXPECT_EQ(data("c"), "");
}

ROWLOCK_FOR_EACH_STORE(hold_data_client_test);

class hold_data_doubt_test : public virtual_client_test {
 protected:
  std::string data(const std::string& name) { return admin{new_client()}.show(name)->holders.at(0).data; }

  client db = new_client();
};

TEST_F(hold_data_doubt_test, a_lost_answer_leaves_it_in_doubt_and_the_call_may_be_repeated) {
  const hold held = mutex(db, "a").acquire();
  const hold permit = counting_semaphore(db, "s", 5).acquire();
  for (const auto* one : {&held, &permit}) {
    for (const bool sent : {true, false}) {
      SCOPED_TRACE(sent);
      const std::string text = sent ? "arrived" : "not sent";
      if (sent) {
        faults.lose_answer("edit");
      } else {
        faults.lose_request("edit");
      }
      try {
        one->set_data(text);
        ADD_FAILURE() << "its answer was lost";
      } catch (const error& failure) {
        EXPECT_EQ(failure.code(), errc::unreachable);
        EXPECT_TRUE(failure.outcome_unknown() || !sent);
      }
      EXPECT_EQ(data(one->name()), sent ? "arrived" : "");
      one->set_data("again");
      EXPECT_EQ(data(one->name()), "again");
      one->set_data("");
    }
  }
}

TEST_F(hold_data_doubt_test, a_downgrade_an_upgrade_and_an_adoption_whose_answer_was_lost_keep_it) {
  shared_mutex catalog{db, "c"};
  hold held = catalog.acquire();
  held.set_data("mine");
  faults.lose_answer("edit");
  catalog.downgrade(held);
  EXPECT_EQ(data("c"), "mine");
  faults.lose_answer("edit");
  ASSERT_TRUE(catalog.try_upgrade(held));
  EXPECT_EQ(data("c"), "mine");
  catalog.downgrade(held);
  const auto text = held.transfer(1h);
  const client other = new_client();
  std::ignore = mutex(other, "warm").acquire();
  faults.lose_answer("edit");
  const hold taken = adopt(other, text);
  ASSERT_TRUE(taken);
  EXPECT_EQ(data("c"), "mine");
}

// A text that arrives after the end of its hold must not appear beside the next holder.
TEST_F(hold_data_doubt_test, a_late_text_is_not_written_beside_the_next_holder) {
  const hold held = mutex(db, "a").acquire();
  const auto hung = faults.count("edit");
  faults.hang("edit");
  auto says = in_background([&] { return code_of([&] { held.set_data("late"); }); });
  ASSERT_TRUE(soon([&] { return faults.count("edit") == hung + 1; }));
  const client other = new_client();
  ASSERT_TRUE(admin{other}.release("a"));
  const hold next = mutex(other, "a").acquire();
  next.set_data("next");
  server->unblock();
  EXPECT_EQ(says.get(), errc::hold_lost);
  EXPECT_EQ(data("a"), "next");
}

}  // namespace
}  // namespace rowlock::test
