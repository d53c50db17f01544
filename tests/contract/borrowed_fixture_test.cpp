#include "contract/contract_test.hpp"

namespace rowlock::test {

namespace {

// No fixture of its own, because these tests compare fixtures.
class borrowed_fixture_test : public testing::TestWithParam<std::string> {
 protected:
  static void use(store_fixture& fixture) {
    const auto session = fixture.open()->connect();
    session->record_database_state();
    const model::lock_definition made{"a"};
    session->create({&made, 1});
    fixture.change_identity();
  }
  static std::vector<store::hold_status> found(store_fixture& fixture) {
    const store::hold_query asked{"a", hold_id::random()};
    return fixture.open()->connect()->find({&asked, 1});
  }
  static store::database_state state_of(store_fixture& fixture) {
    return fixture.open()->connect()->read_database_state();
  }
};

TEST_P(borrowed_fixture_test, has_nothing_of_the_test_before) {
  const auto fresh = make_store_fixture(GetParam());
  const auto as_made = state_of(*fresh);
  const auto without_lock = found(*fresh).front();
  for (int i = 0; i < 3; ++i) {
    const auto borrowed = borrow_store_fixture(GetParam());
    const auto state = state_of(*borrowed);
    EXPECT_EQ(state.recorded_identity, as_made.recorded_identity);
    EXPECT_EQ(state.epoch, as_made.epoch);
    EXPECT_EQ(state.marker, as_made.marker);
    EXPECT_EQ(found(*borrowed).front().capacity, without_lock.capacity);
    use(*borrowed);
    EXPECT_NE(state_of(*borrowed).recorded_identity, as_made.recorded_identity);
  }
}

TEST_P(borrowed_fixture_test, is_not_shared_while_it_is_used) {
  const auto one = borrow_store_fixture(GetParam());
  const auto other = borrow_store_fixture(GetParam());
  use(*one);
  EXPECT_EQ(state_of(*other).recorded_identity, "");
}

ROWLOCK_FOR_EACH_STORE(borrowed_fixture_test);

}  // namespace

}  // namespace rowlock::test
