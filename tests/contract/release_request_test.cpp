#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

// A client requests the release of a lock that others hold.
class request_test : public contract_test {
 protected:
  void ask(const std::string& name, const store::release_request& request, const lease_id& client) {
    const auto result = edit(name, [&](const store::lock_view& view) {
      store::lock_change change;
      change.row = view.row;
      change.request = request;
      change.notices = {client};
      return change;
    });
    ASSERT_EQ(result, edit_result::committed);
  }
};

TEST_P(request_test, is_kept_beside_the_lock_and_read_with_the_time_that_is_left) {
  const auto holder = held("a");
  EXPECT_FALSE(a->show("a")->request);
  const auto token = view("a").row.token;
  ask("a", {token, 1h, "it's \"urgent\" \\ Größe"}, holder.lease);
  for (const auto& shown : {b->show("a"), std::optional{b->list().front()}}) {
    ASSERT_TRUE(shown && shown->request);
    EXPECT_EQ(shown->request->upto, token);
    EXPECT_EQ(shown->request->reason, "it's \"urgent\" \\ Größe");
    EXPECT_LE(shown->request->within, 1h);
    EXPECT_GT(shown->request->within, 59min);
  }
  EXPECT_EQ(view("a").row.token, token);
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(request_test, has_no_time_left_when_it_is_over) {
  const auto holder = held("a");
  ask("a", {view("a").row.token, 0ms, ""}, holder.lease);
  EXPECT_EQ(b->show("a")->request->within, 0ms);
}

TEST_P(request_test, means_the_holds_up_to_its_token) {
  const auto holder = held("a");
  EXPECT_FALSE(find(holder).is_asked_for);
  const auto token = view("a").row.token;
  ask("a", {token - 1, 1h, ""}, holder.lease);
  EXPECT_FALSE(find(holder).is_asked_for);
  ask("a", {token, 1h, ""}, holder.lease);
  EXPECT_TRUE(find(holder).is_asked_for);
  const store::hold_query both[] = {{"a", holder.hold}, {"a", hold_id::random()}};
  const auto found = a->find(both);
  EXPECT_TRUE(found[0].is_asked_for);
  EXPECT_FALSE(found[1].is_asked_for);
  ASSERT_TRUE(release(holder));
  const auto next = claim_to("a");
  ASSERT_TRUE(acquire(next));
  EXPECT_FALSE(find(next).is_asked_for);
}

TEST_P(request_test, means_permits_by_their_own_tokens) {
  const model::lock_definition lock{"s", model::lock_kind::semaphore, 9};
  a->create({&lock, 1});
  const claim first{"s", new_lease()};
  const claim second{"s", new_lease()};
  edit("s", [&](const store::lock_view& view) {
    store::lock_change change;
    change.row = view.row;
    change.row->in_use = 2;
    change.add_permits = {{first.hold, first.lease, 1, ++change.row->token},
                          {second.hold, second.lease, 1, ++change.row->token}};
    change.granted_now = true;
    return change;
  });
  ask("s", {view("s").row.token - 1, 1h, ""}, first.lease);
  EXPECT_TRUE(find(first).is_asked_for);
  EXPECT_FALSE(find(second).is_asked_for);
}

ROWLOCK_FOR_EACH_STORE(request_test);

}  // namespace
}  // namespace rowlock::test
