// A contract test runs against every store, through the seam alone. The simplest decision that shows the verb
// (decisions.hpp) stands in for a client's; the client's own decisions are tested above the seam.
#pragma once

#include "contract/decisions.hpp"
#include "store/store.hpp"
#include "support/session_on_first_use.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::test {

using namespace std::chrono_literals;
using model::hold_id;
using model::lease_id;
using store::durability;
using store::edit_result;
using where = store::hold_status::where;

class contract_test : public testing::TestWithParam<std::string> {
 protected:
  contract_test();

  // A lease, a lock that the lease's client wants, and the id of one hold; most tests need no more.
  struct claim {
    std::string name;
    lease_id lease;
    hold_id hold = hold_id::random();

    store::acquire_item request() const { return {name, model::lock_kind::mutex, 1, lease, hold}; }
    store::release_item giving_back() const { return {name, lease, hold}; }
  };

  std::unique_ptr<store::session> connect() { return database_->connect(); }

  // ---- the state from which a test starts ----
  lease_id new_lease(std::chrono::milliseconds ttl = 30s);
  void create(const std::string& name) { create(std::vector{name}); }
  void create(std::vector<std::string> names);
  // The claim of a new lease to a lock, which is created if it is missing.
  claim claim_to(const std::string& name);
  claim held(const std::string& name);    // acquired by a new lease
  claim queued(const std::string& name);  // a new lease waits behind earlier waiters
  void kill(const lease_id& lease);       // expires and kills it
  void end(const lease_id& lease) { a->end(std::vector{lease}); }

  // ---- single requests ----
  std::optional<model::token> acquire(const claim& wanted) { return acquire(*a, wanted); }
  std::optional<model::token> acquire(store::session& session, const claim& wanted);
  bool release(const claim& given, durability how = durability::durable) { return release(*a, given, how); }
  bool release(store::session& session, const claim& given, durability how = durability::durable);
  edit_result edit(const std::string& name, std::function<store::lock_change(const store::lock_view&)> decide,
                   hold_id about = {});
  store::lock_view view(const std::string& name, hold_id about = {});
  store::hold_status find(const claim& wanted);
  std::optional<store::renewal> renew(const lease_id& lease);
  std::vector<hold_id> waiting(const std::string& name);  // by ticket
  // Whether the session hears of a change within that time, by a notification or by polling.
  bool hears(store::session& session, std::chrono::nanoseconds within);

  // Acquires and releases the lock; returns the token of that grant.
  model::token next_token_of(const std::string& name);

  store_fixture& fixture() { return *fixture_; }

 private:
  std::unique_ptr<store_fixture> fixture_;
  std::unique_ptr<store::database> database_;

 protected:
  // Two connections, as if of two processes.
  std::unique_ptr<store::session> a;
  session_on_first_use b;
};

}  // namespace rowlock::test

// The first line of a test that not every store can run. The report lists what was skipped and why.
#define ROWLOCK_NEEDS(what) \
  if (!fixture().can(::rowlock::test::capability::what)) GTEST_SKIP() << "needs " #what
