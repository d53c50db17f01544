// The data of holds, which stands beside the holder or in the permit, and ends with it. And permits without weight,
// which the members of a barrier have.
#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using model::lock_kind;

class hold_data_test : public contract_test {
 protected:
  using text = std::optional<std::string>;

  void create_as(const std::string& name, lock_kind kind, std::int64_t capacity = 1) {
    a->create(std::vector<model::lock_definition>{{name, kind, capacity}});
  }
  void say(const std::string& name, const std::string& value) {
    edit(name, [&](const store::lock_view&) {
      store::lock_change change;
      change.value = value;
      change.durable = true;
      return change;
    });
  }
  void say(const claim& held, const std::string& said) {
    edit(held.name, [&](const store::lock_view&) {
      store::lock_change change;
      change.data = {{held.hold, said}};
      change.durable = true;
      return change;
    });
  }
  // Requires: the lock is a semaphore of five permits.
  claim shared(const std::string& name) {
    claim made{name, new_lease()};
    const store::acquire_item wanted{name, lock_kind::semaphore,     5, made.lease, made.hold,
                                     true, model::lock_mode::shared, 2};
    EXPECT_EQ(a->acquire({&wanted, 1}).size(), 1U);
    return made;
  }
  // The data of that hold, as the reading verbs show it.
  text data_of(const claim& held) {
    const auto seen = b->show(held.name).value();
    for (const auto& one : seen.holders) {
      if (one.hold == held.hold) return one.data;
    }
    ADD_FAILURE() << "it is not held";
    return {};
  }
  // The data of that hold, as an edit sees it if it asks for data.
  text read(const claim& held, bool with_data = true) {
    text seen;
    const store::edit_request request{held.name, held.hold,
                                      [&](const store::lock_view& now) {
                                        seen = now.data;
                                        return store::lock_change{};
                                      },
                                      with_data};
    EXPECT_EQ(a->edit({&request, 1}).front(), edit_result::committed);
    return seen;
  }

  const std::vector<std::string> texts{"7 here", "", "it's \"Größe\" \\ $1 :x ?\n\x1b[2J",
                                       std::string(4096, 'x'), "7 there"};
};

TEST_P(hold_data_test, of_an_exclusive_hold_is_read_as_it_was_written_last) {
  const auto one = held("a");
  const auto other = held("b");
  EXPECT_FALSE(data_of(one));
  EXPECT_FALSE(read(one));
  for (const auto& value : texts) {
    say("a", value);
    EXPECT_EQ(data_of(one), value);
    EXPECT_EQ(read(one), value);
  }
  EXPECT_FALSE(data_of(other)) << "it is the other's";
  EXPECT_FALSE(read({"a", {}})) << "it is another hold's";
  const auto all = b->list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].holders.at(0).data, "7 there");
  EXPECT_FALSE(all[1].holders.at(0).data);
}

TEST_P(hold_data_test, of_an_exclusive_hold_outlives_other_changes) {
  create("a");
  say("a", "7 here");
  const claim wanted{"a", new_lease()};
  ASSERT_TRUE(acquire(wanted));
  EXPECT_EQ(data_of(wanted), "7 here") << "its token tells that it is not this hold's";
  EXPECT_TRUE(release(wanted));
  ASSERT_TRUE(acquire({"a", wanted.lease, wanted.hold}));
  EXPECT_EQ(data_of(wanted), "7 here");
}

TEST_P(hold_data_test, of_a_permit_is_read_as_it_was_written_last) {
  create_as("a", lock_kind::semaphore, 5);
  const auto one = shared("a");
  const auto other = shared("a");
  EXPECT_FALSE(data_of(one));
  EXPECT_FALSE(read(one));
  for (const auto& said : texts) {
    say(one, said);
    EXPECT_EQ(data_of(one), said);
    EXPECT_EQ(read(one), said);
  }
  EXPECT_FALSE(read(one, false)) << "it costs a statement";
  EXPECT_FALSE(data_of(other));
  EXPECT_FALSE(read(other));
  say("a", "7 of the lock");
  EXPECT_EQ(data_of(one), "7 there");
  EXPECT_EQ(b->list().at(0).holders.at(0).data, "7 there");
  EXPECT_FALSE(b->list().at(0).holders.at(1).data);
}

TEST_P(hold_data_test, of_a_permit_stays_when_it_is_replaced_and_goes_with_it) {
  create_as("a", lock_kind::semaphore, 5);
  const auto one = shared("a");
  say(one, "mine");
  const auto token = view("a").permits.at(0).permit.token;
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 1;
    change.remove_permits = {one.hold};
    change.add_permits = {{one.hold, one.lease, 1, token}};
    return change;
  });
  EXPECT_EQ(data_of(one), "mine");
  const store::release_item given{"a", one.lease, one.hold, model::lock_mode::shared};
  EXPECT_EQ(a->release({&given, 1}, durability::durable).size(), 1U);
  const store::acquire_item again{"a",  lock_kind::semaphore,     5, one.lease, one.hold,
                                  true, model::lock_mode::shared, 1};
  ASSERT_EQ(a->acquire({&again, 1}).size(), 1U);
  EXPECT_FALSE(data_of(one)) << "the row is a new one";
}

TEST_P(hold_data_test, of_a_permit_may_come_with_it) {
  create_as("a", lock_kind::semaphore, 5);
  const claim one{"a", new_lease()};
  const claim gone{"a", new_lease()};
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 2;
    change.row->token = model::next_token(now.row.token, now.epoch_floor);
    change.add_permits = {{one.hold, one.lease, 2, change.row->token}};
    change.data = {{gone.hold, "nobody's"}, {one.hold, "mine"}};
    change.granted_now = true;
    change.durable = true;
    return change;
  });
  EXPECT_EQ(data_of(one), "mine");
  EXPECT_EQ(view("a").permits.size(), 1U);
}

TEST_P(hold_data_test, several_locks_change_together) {
  create_as("a", lock_kind::semaphore, 5);
  create("c");
  const auto one = shared("a");
  const claim other{"c", new_lease()};
  ASSERT_TRUE(acquire(other));
  const auto nobody_asks = [](const store::lock_view&) { return store::lock_change{}; };
  const store::edit_request requests[] = {{"a", one.hold, nobody_asks, true},
                                          {"b", hold_id::random(), nobody_asks, true},
                                          {"c", other.hold, nobody_asks, true}};
  const auto results = a->edit_together(requests, [&](auto, auto views) {
    std::vector<store::lock_change> changes(views.size());
    changes[0].data = {{one.hold, "of a"}};
    changes[2].value = "7 of c";
    changes[0].durable = changes[2].durable = true;
    return changes;
  });
  EXPECT_THAT(results,
              testing::ElementsAre(edit_result::committed, edit_result::missing, edit_result::committed));
  EXPECT_EQ(data_of(one), "of a");
  EXPECT_EQ(data_of(other), "7 of c");
}

TEST_P(hold_data_test, a_member_that_passed_a_barrier_has_a_permit_of_no_weight_and_is_found) {
  create_as("a", lock_kind::barrier, 2);
  const claim one{"a", new_lease()};
  const claim two{"a", new_lease()};
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->token = model::next_token(now.row.token, now.epoch_floor);
    for (const auto& member : {one, two})
      change.add_permits.push_back({member.hold, member.lease, 0, change.row->token});
    change.granted_now = true;
    change.durable = true;
    return change;
  });
  const auto found = find(one);
  EXPECT_EQ(found.state, where::held);
  EXPECT_EQ(found.token, view("a").row.token);
  EXPECT_EQ(find(two).token, found.token);
  EXPECT_EQ(view("a").row.in_use, 0);
  kill(one.lease);
  EXPECT_EQ(find(one).state, where::absent);
}

ROWLOCK_FOR_EACH_STORE(hold_data_test);

}  // namespace
}  // namespace rowlock::test
