// One run of a scenario: names and leases of its own, the connections that step through it, what their calls returned,
// and the checks at the end.
#pragma once

#include "orders.hpp"
#include "steps.hpp"
#include "tables.hpp"

#include "client/decision/decisions.hpp"
#include "store/store.hpp"
#include "support/store_fixture.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::test {

using model::hold_id;
using model::lease_id;

// The database, with everything that is kept from run to run.
class stage {
 public:
  explicit stage(const std::string& store);

  store_fixture& fixture() { return *fixture_; }
  server_view& server() { return *server_; }
  sql_session& reader() { return *reader_; }
  store::session& helper() { return *helper_; }  // a session that is not stepped
  store::session& session(std::size_t number);
  const std::string& store() const { return store_; }
  std::string prefix() const { return fixture_->options().prefix; }

 private:
  std::string store_;
  std::unique_ptr<store_fixture> fixture_;
  std::unique_ptr<store::database> database_;
  std::unique_ptr<server_view> server_;
  std::unique_ptr<sql_session> reader_;
  std::unique_ptr<store::session> helper_;
  std::vector<std::unique_ptr<store::session>> sessions_;
};

// A request for a lock, and what its client believes about it.
struct wish {
  store::acquire_item item;
  enum class belief { nothing, waits, holds, released, refused } is = belief::nothing;
  std::optional<model::token> token;  // as a call returned it
};

class scene;

// The calls of a client, made of verbs as src/client makes them: first the fast statements, then edits.
class caller {
 public:
  caller(scene& in, store::session& session) : scene_{in}, session_{session} {}

  void acquire(wish& wanted, bool may_wait = true);
  void edit_acquire(wish& wanted, bool may_wait = true);  // without the fast statements
  // One batch; locks that are busy are refused. Returns those that are held.
  std::vector<wish*> acquire_all(const std::vector<wish*>& wanted);
  void acquire_together(const std::vector<wish*>& wanted);  // all or none
  void release(wish& held);
  void withdraw(wish& waiting);  // a request that was granted is released
  void force(const std::string& name);
  void sweep(const std::string& name);
  void renew(const std::vector<const wish*>& of);
  void kill(const std::vector<const wish*>& of);
  void end(const std::vector<const wish*>& of);
  // Runs a transaction of the user's that relies on the hold.
  void write_guarded(const wish& by);
  void downgrade(wish& held);
  void reduce(wish& held, std::int64_t weight);
  void upgrade(wish& held);
  // Asks what became of the request, without waiting.
  void look(wish& waiting);
  // Releases all permits in one fast statement; those that it does not release one by one.
  void release_batch(const std::vector<wish*>& held);
  // Releases all holds in one edit.
  void release_all(std::vector<wish*> held);

  store::session& session() { return session_; }
  // Repeats a verb that failed because of another transaction.
  void again(const std::function<void()>& verb);

 private:
  client_layer::outcome edit(const wish& about,
                             const std::function<client_layer::decision(const store::lock_view&)>& decide);
  bool prepare(const client_layer::outcome& made);

  scene& scene_;
  store::session& session_;
};

class scene {
 public:
  scene(stage& on, order& choices);

  // ---- before the run ----
  std::string name(const std::string& of) const { return run_ + '/' + of; }
  lease_id lease(std::chrono::milliseconds ttl = std::chrono::seconds{60});
  // A request of a new lease, for a mutex that is created now.
  wish& mutex(const std::string& of);
  wish& permits(const std::string& of, std::int64_t weight, std::int64_t capacity);
  wish& shared(const std::string& of, bool exclusive = false);
  wish& held(wish& wanted);    // granted now
  wish& queued(wish& wanted);  // in the queue now
  void expire(const wish& of) { stage_.fixture().expire(of.item.lease); }
  void kill(const wish& of);
  // From here on the request's hold may end without its client.
  void may_be_lost(const wish& of) { may_be_lost_.push_back(of.item.hold.to_string()); }
  void clock_may_change() { clock_may_change_ = true; }
  void epoch_may_rise() { epoch_may_rise_ = true; }
  // The waiters poll at the end. A guard that found no hold may have kept the row of a free lock; the poll then finds
  // the lock free.
  void waiters_poll() { waiters_poll_ = true; }
  void dead_may_remain() { dead_may_remain_ = true; }

  // Adds an actor, which has a connection of its own.
  void does(const std::string& who, std::function<void(caller&)> calls);

  // ---- the run ----
  // Returns what went wrong; empty if nothing did.
  std::string run();
  std::string story() const { return steps_.story(); }
  const step_scheduler& steps() const { return steps_; }
  table_rules& rules() { return *rules_; }
  stage& on() { return stage_; }

 private:
  wish& add(store::acquire_item item);
  void create(const store::acquire_item& item);
  void poll();
  std::string check_beliefs() const;

  stage& stage_;
  order& choices_;
  const std::string run_;
  std::vector<std::unique_ptr<wish>> wishes_;
  std::vector<std::unique_ptr<caller>> callers_;
  std::vector<std::string> may_be_lost_;
  bool dead_may_remain_ = false, clock_may_change_ = false, epoch_may_rise_ = false, waiters_poll_ = false;
  std::unique_ptr<table_rules> rules_;
  step_scheduler steps_;
  std::string found_;
};

}  // namespace rowlock::test
