#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum model::lock_kind;

// During a deploy the clients of a later version use the same tables. Locks of their kinds are shown and left
// alone.
class unknown_kind_test : public contract_test {
 protected:
  void create_unknown(const std::string& name) {
    create(name);
    fixture().make_unknown(name);
  }
};

TEST_P(unknown_kind_test, is_not_acquired) {
  create_unknown("a");
  EXPECT_FALSE(acquire({"a", new_lease()}));
}

TEST_P(unknown_kind_test, is_not_acquired_as_unknown) {
  create_unknown("a");
  auto request = claim{"a", new_lease()}.request();
  request.kind = unknown;
  EXPECT_THAT(a->acquire(std::vector{request}), IsEmpty());
}

TEST_P(unknown_kind_test, does_not_disturb_the_batch_that_it_is_in) {
  create(std::vector<std::string>{"a", "c"});
  create_unknown("b");
  const auto lease = new_lease();
  const claim one{"a", lease};
  const claim two{"b", lease};
  const claim three{"c", lease};
  EXPECT_EQ(a->acquire(std::vector{one.request(), two.request(), three.request()}).size(), 2U);
  const auto found =
      a->find(std::vector<store::hold_query>{{"a", one.hold}, {"b", two.hold}, {"c", three.hold}});
  EXPECT_EQ(found.at(0).state, where::held);
  EXPECT_EQ(found.at(1).kind, unknown);
  EXPECT_EQ(found.at(2).state, where::held);
  std::vector<model::lock_kind> seen;
  const auto look = [&](const store::lock_view& now) {
    seen.push_back(now.row.kind);
    return store::lock_change{};
  };
  EXPECT_THAT(a->edit(std::vector<store::edit_request>{{"a", {}, look}, {"b", {}, look}, {"c", {}, look}}),
              ElementsAre(edit_result::committed, edit_result::committed, edit_result::committed));
  EXPECT_THAT(seen, ElementsAre(mutex, unknown, mutex));
}

TEST_P(unknown_kind_test, is_listed) {
  create_unknown("a");
  EXPECT_EQ(a->list().at(0).row.kind, unknown);
  EXPECT_EQ(a->show("a").value().row.kind, unknown);
}

TEST_P(unknown_kind_test, is_not_made_a_known_one) {
  create_unknown("a");
  create("a");
  EXPECT_EQ(view("a").row.kind, unknown);
}

// This version cannot know when such a lock is free.
TEST_P(unknown_kind_test, is_not_collected) {
  create_unknown("a");
  create("b");
  EXPECT_EQ(a->collect(0ms, 100), 1);
  EXPECT_TRUE(a->show("a"));
}

ROWLOCK_FOR_EACH_STORE(unknown_kind_test);

}  // namespace
}  // namespace rowlock::test
