// What rows of offices, latches and barriers carry that those of locks do not: a value, and permits of no
// weight.
#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using model::lock_kind;

class proclaim_test : public contract_test {
 protected:
  void create_as(const std::string& name, lock_kind kind, std::int64_t capacity = 1) {
    a->create(std::vector<model::lock_definition>{{name, kind, capacity}});
  }
  void proclaim(const std::string& name, const std::string& value) {
    edit(name, [&](const store::lock_view&) {
      store::lock_change change;
      change.value = value;
      change.durable = true;
      return change;
    });
  }
  std::optional<std::string> value_of(const std::string& name) { return b->show(name).value().value; }
};

TEST_P(proclaim_test, a_value_is_read_as_it_was_written_last) {
  create_as("a", lock_kind::election);
  create_as("b", lock_kind::election);
  EXPECT_FALSE(value_of("a"));
  for (const std::string value : {"7 here", "", "it's \"Größe\" \\ $1 :x ?\n", "7 there"}) {
    proclaim("a", value);
    EXPECT_EQ(value_of("a"), value);
  }
  EXPECT_FALSE(value_of("b")) << "it is the other's";
  const auto all = b->list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].value, "7 there");
  EXPECT_FALSE(all[1].value);
}

TEST_P(proclaim_test, a_value_outlives_other_changes) {
  create_as("a", lock_kind::election);
  proclaim("a", "7 here");
  const claim office{"a", new_lease()};
  const store::acquire_item wanted{"a", lock_kind::election, 1, office.lease, office.hold};
  ASSERT_EQ(a->acquire({&wanted, 1}).size(), 1U);
  EXPECT_EQ(value_of("a"), "7 here");
  EXPECT_TRUE(release(office));
  EXPECT_EQ(value_of("a"), "7 here");
}

TEST_P(proclaim_test, a_member_that_passed_a_barrier_has_a_permit_of_no_weight_and_is_found) {
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

ROWLOCK_FOR_EACH_STORE(proclaim_test);

}  // namespace
}  // namespace rowlock::test
