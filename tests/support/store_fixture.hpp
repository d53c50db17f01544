// A fresh, migrated database of a store, and what a test does to it from outside: it makes a lease expire without
// sleeping, locks a row as a rival does, or loses the marker. The destructor removes the database.
#pragma once

#include "store/store.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::test {

// Capabilities that not every store has. A test that needs one says so (contract_test::needs); the report lists the
// tests that did not run.
enum class capability {
  row_locks,             // a transaction locks single rows, and others skip them
  targeted_wakeups,      // a notification reaches only the clients that it is for
  short_cuts,            // enqueue and hand_over do what they can without an edit
  backends,              // sessions run in a server, whose backends can be ended
  enqueue_beside_guard,  // a guarded row's queue can change while its grant stays
};

std::string_view to_string(capability what);

class store_fixture {
 public:
  // A rival's open transaction. It is rolled back when the last copy is destroyed.
  using rival = std::shared_ptr<void>;

  store_fixture() = default;
  store_fixture(const store_fixture&) = delete;
  store_fixture& operator=(const store_fixture&) = delete;
  virtual ~store_fixture() = default;

  virtual bool can(capability what) const = 0;

  // Opens the database as each client process would. Any number of them may be open on the same tables.
  virtual std::unique_ptr<store::database> open() = 0;
  // What rowlock::connect and the command take. The memory store has no URL.
  virtual std::string url() const { return {}; }
  virtual store::store_options options() const { return {}; }
  // The URL of the same database for a test's own queries, which the user of url() may not be allowed to make.
  virtual std::string observer_url() const { return url(); }

  // Sets the lease's expiry to this long ago on the database's clock; a negative value means the future.
  virtual void expire(const model::lease_id& lease,
                      std::chrono::microseconds ago = std::chrono::seconds{1}) = 0;
  // Makes the lock and its permits look as if they were last acquired this long ago.
  virtual void age(const std::string& name, std::chrono::microseconds unused_for) = 0;

  // Gives the lock a kind that this version does not know, as a later version might.
  virtual void make_unknown(const std::string& name) = 0;
  // Deletes the lock's row, as somebody may do by hand.
  virtual void delete_lock(const std::string& name) = 0;

  virtual rival lock_row(const std::string& name) = 0;
  // Opens a guarded transaction of the holder. Null: the guard's statement found no such hold.
  rival guard(const std::string& name, const model::hold_id& hold) {
    return guard(name, hold, model::lock_mode::exclusive);
  }
  virtual rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) = 0;
  // Begins a transaction that makes renewals wait until it ends.
  virtual rival stall_renewals() = 0;
  // Whether a session's backend waits for another backend's lock. Requires capability::backends.
  virtual bool is_blocked(const std::string& /*backend*/) {
    throw std::logic_error("this store has no backends");
  }

  // Makes the state that a crash of the server leaves.
  virtual void lose_marker() = 0;
  // Makes the state after a fail-over: this server's identity is not the recorded one.
  virtual void change_identity() = 0;
};

// name: memory, sqlite, postgres, mariadb or mysql. ROWLOCK_TEST_EXTRA_MIGRATION=1 adds a migration that a later
// version might ship. With ROWLOCK_TEST_HOSTILE_SETTINGS=1 all stores except memory and sqlite are opened as a user
// whose sessions begin with settings that break statements which rely on the defaults. Throws std::runtime_error if the
// store's server is not available.
std::unique_ptr<store_fixture> make_store_fixture(const std::string& name);
// As make_store_fixture(), but faster: a server's database may be one that an earlier test of this process has used, with
// its rows as the migrations left them. For tests whose sessions have all ended when the fixture ends.
std::unique_ptr<store_fixture> borrow_store_fixture(const std::string& name);

std::unique_ptr<store_fixture> make_memory_fixture();
std::unique_ptr<store_fixture> make_sqlite_fixture();
std::unique_ptr<store_fixture> make_postgres_fixture();
std::unique_ptr<store_fixture> borrow_postgres_fixture();
std::unique_ptr<store_fixture> make_mysql_fixture(const std::string& name);  // mariadb or mysql
std::unique_ptr<store_fixture> borrow_mysql_fixture(const std::string& name);

}  // namespace rowlock::test
