#include "contract/contract_test.hpp"

#include <algorithm>
#include <stdexcept>

namespace rowlock::test {

contract_test::contract_test()
    : fixture_(borrow_store_fixture(GetParam())), database_(fixture_->open()), a(connect()), b(*database_) {
  // Before b connects: on a Galera cluster a session from before would grant and kill nothing until it has read the state
  // again (tests/galera/recording_test.cpp).
  a->record_database_state();
}

lease_id contract_test::new_lease(std::chrono::milliseconds ttl) {
  store::lease_record lease;
  lease.id = lease_id::random();
  lease.client = lease.id;
  lease.host = "host";
  lease.pid = 42;
  lease.application = "contract";
  lease.ttl = ttl;
  a->create_lease(lease);
  return lease.id;
}

void contract_test::create(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<model::lock_definition> locks;
  for (auto& name : names) locks.push_back({std::move(name)});
  a->create(locks);
}

contract_test::claim contract_test::claim_to(const std::string& name) {
  create(name);
  return {name, new_lease()};
}

contract_test::claim contract_test::held(const std::string& name) {
  const claim wanted = claim_to(name);
  if (!acquire(wanted)) throw std::runtime_error("the test could not acquire \"" + name + "\" to start from");
  return wanted;
}

contract_test::claim contract_test::queued(const std::string& name) {
  const claim wanted = claim_to(name);
  if (edit(name, enqueue(wanted.lease, wanted.hold)) != edit_result::committed) {
    throw std::runtime_error("the test could not enqueue for \"" + name + "\" to start from");
  }
  return wanted;
}

void contract_test::kill(const lease_id& lease) {
  fixture().expire(lease);
  if (a->kill(std::vector{lease}, 0us).empty()) throw std::runtime_error("the test could not kill a lease");
}

std::optional<model::token> contract_test::acquire(store::session& session, const claim& wanted) {
  const auto grants = session.acquire(std::vector{wanted.request()});
  if (grants.empty()) return {};
  EXPECT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].hold, wanted.hold);
  return grants[0].token;
}

bool contract_test::release(store::session& session, const claim& given, durability how) {
  const auto released = session.release(std::vector{given.giving_back()}, how);
  if (released.empty()) return false;
  EXPECT_EQ(released, std::vector{given.hold});
  return true;
}

edit_result contract_test::edit(const std::string& name,
                                std::function<store::lock_change(const store::lock_view&)> decide,
                                hold_id about) {
  return a->edit(std::vector<store::edit_request>{{name, about, std::move(decide)}}).at(0);
}

store::lock_view contract_test::view(const std::string& name, hold_id about) {
  std::optional<store::lock_view> seen;
  const auto result = edit(
      name,
      [&](const store::lock_view& now) {
        seen = now;
        return store::lock_change{};
      },
      about);
  if (!seen)
    throw std::runtime_error("the test could not view \"" + name + "\": " + std::to_string(int(result)));
  return *seen;
}

store::hold_status contract_test::find(const claim& wanted) {
  return a->find(std::vector<store::hold_query>{{wanted.name, wanted.hold}}).at(0);
}

std::optional<store::renewal> contract_test::renew(const lease_id& lease) {
  const auto reply = a->renew(std::vector{lease});
  if (reply.renewed.empty()) return {};
  EXPECT_EQ(reply.renewed.size(), 1U);
  EXPECT_EQ(reply.renewed[0].id, lease);
  return reply.renewed[0];
}

std::vector<hold_id> contract_test::waiting(const std::string& name) {
  std::vector<hold_id> holds;
  for (const auto& one : a->queue(name)) holds.push_back(one.waiter.hold);
  return holds;
}

bool contract_test::hears(store::session& session, std::chrono::nanoseconds within) {
  if (!database_->must_poll()) return session.wait(within);
  const auto until = std::chrono::steady_clock::now() + within;
  while (session.poll_wakeups() != store::wakeup_poll::some) {
    if (std::chrono::steady_clock::now() >= until) return false;
    session.wait(2ms);
  }
  return true;
}

model::token contract_test::next_token_of(const std::string& name) {
  const claim wanted = claim_to(name);
  const auto token = acquire(wanted);
  if (!token || !release(wanted))
    throw std::runtime_error("the test could not take a token of \"" + name + "\"");
  end(wanted.lease);
  return *token;
}

}  // namespace rowlock::test
