// Tests of the client layer through the public API: on every store with the machine's clock, and on the memory store
// with a clock and faults that the test controls.
#pragma once

#include "store/store.hpp"
#include "support/fault_plan.hpp"
#include "support/session_on_first_use.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"
#include "support/virtual_time.hpp"

#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace rowlock::test {

using namespace std::chrono_literals;

// Waits until the condition holds. False if it does not hold within a minute.
bool eventually(const std::function<bool()>& condition);

// An acquire on a thread of its own. It is stopped if the test ends first.
class attempt {
 public:
  attempt(client db, const std::string& name, std::chrono::milliseconds ttl = 0ms);
  ~attempt();
  attempt(attempt&&) = default;

  void stop() { stop_.request_stop(); }
  bool is_over() const { return result_.wait_for(0s) == std::future_status::ready; }
  // The hold. Throws what acquire threw, or std::runtime_error if acquire takes more than a minute.
  hold take();

 private:
  std::stop_source stop_;
  std::future<hold> result_;
};

// A client that uses the test's clock.
client make_virtual_client(std::shared_ptr<store::database> database, const options& settings,
                           const std::shared_ptr<virtual_time>& time);

// The code of the error that the call throws. The test fails if it throws none.
std::optional<errc> code_of(const std::function<void()>& call);

// The fixture for tests that run on every store.
class client_test : public testing::TestWithParam<std::string> {
 protected:
  client_test();
  ~client_test() override;

  static options patient();        // limits such as close_timeout suit a machine that is otherwise busy
  static options slow_to_renew();  // renews so seldom that no test sees it
  static options quick_to_renew();
  client new_client(options settings = patient());

  store_fixture& fixture() { return *fixture_; }
  store::session& side() { return *side_; }  // the test's own view of the database

  std::size_t queued(const std::string& name) { return side().queue(name).size(); }
  bool is_held(const std::string& name);
  std::string holder_of(const std::string& name);  // the hold's id; empty: nobody
  model::lease_id lease_of(const std::string& name);
  fencing_token token_of(const std::string& name);
  void kill(const model::lease_id& lease);
  attempt waiting(const client& db, const std::string& name);  // returns when the request stands in the queue

 private:
  std::unique_ptr<store_fixture> fixture_;
  std::unique_ptr<store::database> database_;
  session_on_first_use side_;
};

// The fixture for tests on the memory store, where only the test moves the clock.
class virtual_client_test : public testing::Test {
 private:
  // The clock is shared: a client whose close() has given up leaves threads that go on a little longer.
  const std::shared_ptr<virtual_time> time_ = std::make_shared<virtual_time>();
  const std::shared_ptr<store::memory_server> server_ = store::memory_server::create();
  const std::shared_ptr<fault_plan> faults_ = fault_plan::of(server_);

 protected:
  // Waits for the threads of closed clients.
  ~virtual_client_test() override;

  static options calm();  // no sweeps; ttl 30 s, renewed every 10 s, margin 1 s
  client new_client(const options& settings = calm());

  // Moves both clocks. Whatever is due then happens on the client's threads.
  void advance(std::chrono::milliseconds by);
  // Lets the client's watchdog fall asleep: it sleeps for a quarter of a second, unless it learns of an earlier
  // deadline.
  void let_the_watchdog_sleep();
  // Waits until the condition holds; between two looks it lets some milliseconds pass.
  bool soon(const std::function<bool()>& condition);
  // Lets renewal intervals pass, and waits for each renewal of the client.
  void pass_renewals(const client& db, int count = 1);

  std::size_t queued(const std::string& name) const;
  // Whether that many of the client's requests have entered a queue, and the client has the answers: a fault that comes
  // now takes none of them away.
  static bool knows_places(const client& db, std::uint64_t count = 1);
  std::string holder_of(const std::string& name) const;  // the hold's id, even if its lease is dead
  std::size_t leases() const { return server->snapshot().leases.size(); }
  attempt waiting(const client& db, const std::string& name);

  // A client that has its lease, and whose close() gives up soon.
  client new_impatient_client();
  // Closes the client while it runs user code, which ends only after go_on: close() must wait for that.
  void close_beside_user_code(client& db, std::promise<void>& go_on);
  // Closes the client while a call that it has sent hangs, until is_told says that somebody was told of the close.
  void close_while_the_database_hangs(client& db, const std::function<bool()>& is_told);

  store::memory_server* const server = server_.get();
  virtual_time& time = *time_;
  fault_plan& faults = *faults_;
};

}  // namespace rowlock::test
