// One fresh, migrated database of a store, and what a test does to it from outside: let a lease expire
// without sleeping, hold a row as a rival does, lose the marker. Destroying it removes the database.
#pragma once

#include "store/store.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::test {

// What not every store has. A test that needs one says so (contract_test::needs); the report lists what did
// not run.
enum class capability {
  row_locks,             // a transaction holds single rows, and others skip them
  targeted_wakeups,      // a notification is heard only by those that it is for
  short_cuts,            // enqueue and hand_over do what they can without an edit
  backends,              // sessions run in a server, whose backends can be ended
  enqueue_beside_guard,  // a guarded row's queue can be changed while its grant stays
};

std::string_view to_string(capability what);

class store_fixture {
 public:
  // A rival's open transaction; it ends, without having written anything, when the last copy is gone.
  using rival = std::shared_ptr<void>;

  store_fixture() = default;
  store_fixture(const store_fixture&) = delete;
  store_fixture& operator=(const store_fixture&) = delete;
  virtual ~store_fixture() = default;

  virtual bool can(capability what) const = 0;

  // As each client process would open it; any number, all over the same tables.
  virtual std::unique_ptr<store::database> open() = 0;
  // What rowlock::connect and the command take; the memory store has no URL.
  virtual std::string url() const { return {}; }
  virtual store::store_options options() const { return {}; }

  // The lease's expiry moves to this long ago, on the database's clock; negative: that far ahead.
  virtual void expire(const model::lease_id& lease,
                      std::chrono::microseconds ago = std::chrono::seconds{1}) = 0;
  // The lock was last acquired this long ago.
  virtual void age(const std::string& name, std::chrono::microseconds unused_for) = 0;

  // A later version's lock, of a kind that this one does not know.
  virtual void make_unknown(const std::string& name) = 0;

  virtual rival lock_row(const std::string& name) = 0;
  // A guarded transaction of the holder's. Null: the guard's statement found no such hold.
  rival guard(const std::string& name, const model::hold_id& hold) {
    return guard(name, hold, model::lock_mode::exclusive);
  }
  virtual rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) = 0;
  // Renewals wait until it ends.
  virtual rival stall_renewals() = 0;
  // Whether a session's backend waits for somebody's lock. Requires capability::backends.
  virtual bool is_blocked(const std::string& /*backend*/) {
    throw std::logic_error("this store has no backends");
  }

  // As after a crash of the server.
  virtual void lose_marker() = 0;
  // As after a fail-over: this server is not the one whose identity is recorded.
  virtual void change_identity() = 0;
};

// name: memory, sqlite, postgres or mysql. ROWLOCK_TEST_EXTRA_MIGRATION=1 adds a migration that a later
// version might ship; ROWLOCK_TEST_HOSTILE_SETTINGS=1 opens mysql's as a user whose sessions begin with
// settings against us. Throws std::runtime_error when the store's server is not there.
std::unique_ptr<store_fixture> make_store_fixture(const std::string& name);

std::unique_ptr<store_fixture> make_memory_fixture();
std::unique_ptr<store_fixture> make_sqlite_fixture();
std::unique_ptr<store_fixture> make_postgres_fixture();
std::unique_ptr<store_fixture> make_mysql_fixture();

}  // namespace rowlock::test
