// Three databases for the tests of quorum_mutex and quorum_hold.
#pragma once

#include "client/client_test.hpp"
#include "support/background.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace rowlock::test {

// Three databases with one virtual clock. `member` counts from 0.
class quorum_test : public testing::Test {
 protected:
  static constexpr std::size_t count = 3;
  static constexpr const char* name = "global";

  ~quorum_test() override {
    for (auto& one : databases) one.faults->detach();
  }

  struct database {
    std::shared_ptr<store::memory_server> server = store::memory_server::create();
    std::shared_ptr<fault_plan> faults = fault_plan::of(server);

    std::string holder() const {
      const auto tables = server->snapshot();
      const auto found = tables.locks.find(name);
      return found == tables.locks.end() || !found->second.row.hold ? std::string{}
                                                                    : found->second.row.hold->to_string();
    }
    fencing_token token() const { return fencing_token{server->snapshot().locks.at(name).row.token}; }
  };

  static options calm() {
    options settings;
    settings.renew_interval = 10s;
    settings.margin = 1s;
    settings.sweep_interval.reset();
    settings.close_timeout = 200ms;
    return settings;
  }

  // A process with a client on each database. It can end without telling the databases.
  struct process {
    std::vector<client> clients;
    std::unique_ptr<quorum_mutex> lock;
  };
  std::unique_ptr<process> new_process(const quorum_options& settings = {}) {
    auto made = std::make_unique<process>();
    for (auto& one : databases) made->clients.push_back(make_client(one));
    made->lock = std::make_unique<quorum_mutex>(made->clients, name, settings);
    return made;
  }
  client make_client(database& on);

  void advance(std::chrono::milliseconds by) {
    virtual_time::let_others_sleep();
    for (auto& one : databases) one.server->advance(by);
    time->advance(by);
  }
  bool soon(const std::function<bool()>& condition) {
    return eventually([&, steps = 0]() mutable {
      if (condition()) return true;
      advance(virtual_time::next_step(steps++));
      return condition();
    });
  }
  // Calls the function in a thread of its own, while time passes.
  template <class Call>
  auto run(Call call) {
    auto running = in_background(std::move(call));
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    return running.get();
  }
  quorum_hold take(process& in) {
    return run([&] { return in.lock->try_acquire(); });
  }
  void cut(std::vector<std::size_t> members) {
    for (std::size_t i = 0; i < count; ++i) {
      databases[i].faults->cut(std::ranges::count(members, i) > 0);
    }
  }
  // Takes the lock from its holder, who does not learn of it.
  void free(std::size_t member) {
    auto& server = *databases[member].server;
    const auto row = server.snapshot().locks.at(name).row;
    server.open()->connect()->release(
        std::vector<store::release_item>{{name, row.lease.value(), row.hold.value()}},
        store::durability::durable);
  }
  bool is_free_everywhere() const {
    return std::ranges::all_of(databases, [](const auto& one) { return one.holder().empty(); });
  }
  // Raises the member's next token that much above the other members'.
  void use_up_tokens(std::size_t member, int times) {
    const client db = make_client(databases[member]);
    mutex busy{db, name};
    for (int i = 0; i < times; ++i) run([&] { return busy.acquire(); }).release();
  }

  const std::shared_ptr<virtual_time> time = std::make_shared<virtual_time>();
  std::array<database, count> databases;
};

inline client quorum_test::make_client(database& on) {
  return make_virtual_client(on.server->open(), calm(), time);
}

}  // namespace rowlock::test
