// A session that connected before the cluster was recorded.
#include "galera_test.hpp"

#include <vector>

namespace rowlock::test {

namespace {

class recording_test : public galera_test {};

// Until a session has read the state again, it cannot tell the recorded cluster from one that was bootstrapped from a
// node that was behind. An edit reports this, and then the client lets the session read the state.
TEST_F(recording_test, a_session_from_before_it_grants_once_it_has_read_the_state) {
  const auto early = session_at(1);
  const auto other = session_at(1);
  other->record_database_state();
  store::lease_record lease;
  lease.id = lease.client = model::lease_id::random();
  lease.ttl = 1min;
  other->create_lease(lease);
  other->create(std::vector<model::lock_definition>{{"a"}});
  const std::vector<store::acquire_item> wanted{
      {.name = "a", .lease = lease.id, .hold = model::hold_id::random()}};
  EXPECT_TRUE(early->acquire(wanted).empty());
  bool is_recorded_server = true;
  const auto look = [&](const store::lock_view& now) {
    is_recorded_server = now.is_recorded_server;
    return store::lock_change{};
  };
  early->edit(std::vector<store::edit_request>{{"a", {}, look}});
  EXPECT_FALSE(is_recorded_server);
  const auto state = early->record_database_state();
  EXPECT_EQ(state, other->read_database_state()) << "nothing is recorded twice";
  EXPECT_EQ(early->acquire(wanted).size(), 1U);
}

}  // namespace

}  // namespace rowlock::test
