// Tests of one part of a client. The engine has no threads here: the test's own thread does what a worker, the keeper
// or the watchdog would do, so each step happens when the test takes it.
#pragma once

#include "client/client_test.hpp"
#include "client/engine.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace rowlock::test {

class parts_test : public testing::Test {
 protected:
  parts_test() = default;
  ~parts_test() override {
    engine->close();
    faults->detach();
    // A hold keeps its engine alive.
    engine->holds().remove(engine->holds().all());
  }

  static options plain() {
    options settings;
    settings.ttl = std::chrono::seconds{30};
    settings.margin = std::chrono::seconds{1};
    settings.sweep_interval.reset();
    return settings;
  }

  void advance(std::chrono::milliseconds by) {
    server->advance(by);
    time.advance(by);
  }
  // Gives the client its lease.
  void begin() {
    const std::jthread keeps{[this] { engine->keeper().run(); }};
    EXPECT_TRUE(eventually([&] { return engine->services().queue.lease() != nullptr; }));
    engine->keeper().stop();
    // The test's thread plays that worker.
    queue().count_worker(client_layer::worker_role::everything, true);
  }

  client_layer::worker_services& services() { return engine->services(); }
  client_layer::client_environment& environment() { return engine->environment(); }
  client_layer::submission_queue& queue() { return engine->services().queue; }

  // What the parts have submitted since the last call. It includes acquires only while the client has a lease.
  client_layer::batch submitted() {
    const auto marker = std::make_shared<client_layer::task_operation>();
    client_layer::batch all;
    for (bool more = true; more;) {
      queue().submit(marker);
      auto taken = queue().take(client_layer::worker_role::everything);
      std::erase(taken.tasks, marker);
      more = !taken.empty();
      const auto append = [](auto& to, auto& from) {
        std::move(from.begin(), from.end(), std::back_inserter(to));
      };
      append(all.acquires, taken.acquires);
      append(all.releases, taken.releases);
      append(all.tasks, taken.tasks);
      queue().finish(taken);
    }
    return all;
  }

  // ---- requests of this client ----

  template <class... Operation>
  client_layer::batch batch_of(const Operation&... operations) {
    client_layer::batch made;
    made.lease = queue().lease();
    if constexpr ((std::is_same_v<Operation, client_layer::release_ptr> && ...)) {
      made.releases = {operations...};
    } else {
      made.acquires = {operations...};
    }
    return made;
  }

  client_layer::acquire_ptr asks(const std::string& name, bool waits = true,
                                 model::lock_kind kind = model::lock_kind::mutex) {
    model::lock_definition lock{name, kind};
    if (kind == model::lock_kind::shared_mutex) lock.capacity = model::shared_mutex_capacity;
    auto made = std::make_shared<client_layer::acquire_operation>(model::lock_request{lock}, waits);
    queue().mark(*made);
    return made;
  }
  client_layer::acquire_ptr asks_to_share(const std::string& name, std::int64_t capacity = 5,
                                          bool waits = true) {
    auto made = asks(name, waits);
    made->definition.kind = model::lock_kind::semaphore;
    made->definition.capacity = capacity;
    made->mode = model::lock_mode::shared;
    made->weight = 1;
    return made;
  }
  // The hold that the request was granted; null: none.
  static client_layer::hold_ptr hold_of(const client_layer::acquire_ptr& operation) {
    return operation->answer.take().value_or(nullptr);
  }
  // The code of the error that the request got.
  static std::optional<errc> failure_of(const client_layer::acquire_ptr& operation) {
    return code_of([&] { operation->answer.take(); });
  }
  // Grants a mutex to that hold of this client in the database.
  void grant(const client_layer::hold_ptr& hold) {
    side->create(std::vector<model::lock_definition>{{hold->name()}});
    const std::vector<store::acquire_item> wanted{
        {hold->name(), model::lock_kind::mutex, 1, hold->lease()->id(), hold->id()}};
    EXPECT_EQ(side->acquire(wanted).size(), 1U);
  }
  // A release of that hold whose caller waits.
  client_layer::release_ptr leaves(const client_layer::hold_ptr& hold) {
    auto made = std::make_shared<client_layer::release_operation>();
    made->name = hold->name();
    made->kind = hold->kind();
    made->mode = hold->mode();
    made->fair = hold->is_fair();
    made->hold = hold->id();
    made->lease = hold->lease();
    made->was_held = true;
    made->answer = std::make_shared<client_layer::promised<release_result>>();
    return made;
  }
  static std::optional<release_result> result_of(const client_layer::release_ptr& operation) {
    return operation->answer->take();
  }

  // ---- another client ----

  struct rival {
    model::lease_id lease = model::lease_id::random();
    model::hold_id hold = model::hold_id::random();
  };
  // A rival whose lease is stored, and which holds that lock.
  rival held_by_rival(const std::string& name) {
    const rival other = rival_with_lease();
    side->create(std::vector<model::lock_definition>{{name}});
    const std::vector<store::acquire_item> wanted{
        {name, model::lock_kind::mutex, 1, other.lease, other.hold}};
    EXPECT_EQ(side->acquire(wanted).size(), 1U);
    return other;
  }
  rival rival_with_lease() {
    const rival other;
    side->create_lease({other.lease, other.lease, "host", 1, "a rival", std::chrono::seconds{30}});
    return other;
  }
  // A rival that waits for a lock that somebody holds exclusively.
  rival queued_rival(const std::string& name) {
    const rival other = rival_with_lease();
    EXPECT_TRUE(side->enqueue({name, model::lock_kind::mutex, 1, other.lease, other.hold}, {}));
    return other;
  }
  void released_by_rival(const std::string& name, const rival& other) {
    const std::vector<store::release_item> left{{name, other.lease, other.hold}};
    EXPECT_EQ(side->release(left, store::durability::durable).size(), 1U);
  }

  // The id of the exclusive hold; nil: there is none.
  model::hold_id holder_of(const std::string& name) const {
    const auto tables = server->snapshot();
    const auto found = tables.locks.find(name);
    return found == tables.locks.end() ? model::hold_id{} : found->second.row.hold.value_or(model::hold_id{});
  }
  std::vector<model::hold_id> queue_of(const std::string& name) const {
    std::vector<model::hold_id> holds;
    const auto tables = server->snapshot();
    if (const auto found = tables.queues.find(name); found != tables.queues.end()) {
      for (const auto& [ticket, waiter] : found->second) holds.push_back(waiter.hold);
    }
    return holds;
  }

  virtual_time time;
  const std::shared_ptr<store::memory_server> server = store::memory_server::create();
  const std::shared_ptr<fault_plan> faults = fault_plan::of(server);
  const std::unique_ptr<store::session> side = [this] {
    auto session = server->open()->connect();
    session->record_database_state();
    return session;
  }();
  const std::shared_ptr<client_layer::engine> engine =
      std::make_shared<client_layer::engine>([this] { return server->open(); }, plain(), time);
  client_layer::session_slot slot{engine->environment(), [this] { return server->open()->connect(); }};
};

}  // namespace rowlock::test
