// A database server for tests: one set of tables that any number of sessions share, a clock that stands still until a
// test moves it, rivals that lock rows, and faults. The meaning of the store's verbs in this server is the
// specification of the seam (memory_session.cpp).
//
// Thread safety: every member may be called from any thread. Hooks run under no lock.
#pragma once

#include "memory/memory_cluster.hpp"
#include "memory/memory_tables.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace rowlock::store {

class memory_server;
class memory_session;

// One call of a verb, as a hook sees it. A hook may throw any error: before the verb, nothing has happened; after it,
// the answer is lost. After error(unreachable) the session is broken.
struct memory_call {
  enum class phase { before, after };

  memory_server& server;
  std::string_view verb;  // as store.hpp names it, or "connect"
  phase at = phase::before;
  memory_session* session = nullptr;  // null for connect
  bool ghost = false;
  bool broken_off = false;  // guarded by the server's mutex
  memory_node::moment sent{};
  std::uint64_t number = 0;  // a hook may number its calls here

  // Whether the node was behind the others when the verb was sent. Before the verb a hook may let it wait for the node,
  // or fail.
  bool at_node_behind() const { return sent.tables != nullptr; }

  bool before(std::string_view name) const { return at == phase::before && verb == name; }
  bool after(std::string_view name) const { return at == phase::after && verb == name; }

  // Waits until memory_server::unblock(), or until interrupt(), which ends it with error(unreachable).
  void block();
  // Waits that long, or until interrupt(), which ends the wait with error(unreachable).
  void pause(std::chrono::nanoseconds length);
  // Lets a connect that is blocked fail. Any thread may call it.
  void break_off();
  // Before a verb: its caller gets error(unreachable) with outcome_unknown, and the verb happens later, at
  // memory_server::run_ghosts(), unless end_ghost() has ended its backend by then. Not for edit.
  void leave_ghost() { ghost = true; }

 private:
  bool is_broken() const;  // Requires: the server's mutex.
};

// Reports a broken connection. in_doubt: the verb may have happened.
[[noreturn]] void throw_unreachable(bool in_doubt = true);

// The state on which a transaction works.
struct memory_transaction {
  memory_tables& tables;
  std::string& marker;
  const std::string& identity;
  const std::set<std::string>& locked_rows;
  const std::multimap<std::string, hold_id>& guards;  // by name: the holds on which guarded transactions rely
  timestamp now{0};
  bool wrote = false;  // false: nothing was written, so nothing is remembered
  durability how = durability::durable;
  std::vector<wakeup> told{};  // wake-ups that are sent after the commit

  bool is_recorded_server() const { return identity == tables.recorded_identity; }
  bool is_guarded(const std::string& name, const hold_id& hold) const {
    const auto [first, last] = guards.equal_range(name);
    return std::any_of(first, last, [&](const auto& one) { return one.second == hold; });
  }
};

// Sees the tables after each commit. It is called under the server's mutex, so it must not call the server.
class memory_observer {
 public:
  virtual ~memory_observer() = default;
  virtual void committed(const memory_tables& after, timestamp now, durability how) = 0;
  // A crash or a fail-over took commits back.
  virtual void taken_back(const memory_tables& after) = 0;
  // A change that no layer above may make was refused.
  virtual void refused(std::string_view why) = 0;
  // A node's transaction was rolled back, because another node had changed one of its rows before.
  virtual void conflicted() {}
};

class memory_server : public std::enable_shared_from_this<memory_server> {
 public:
  static std::shared_ptr<memory_server> create() { return std::shared_ptr<memory_server>{new memory_server}; }

  // Opens a database on this server, once for each client.
  std::unique_ptr<database> open();

  // -- time --
  void advance(std::chrono::microseconds by);
  // From now on the clock also moves by itself, with CLOCK_BOOTTIME.
  void let_time_pass();
  // From now on the clock follows a clock of the test's.
  void let_time_pass(std::function<timestamp()> by);
  void expire(const lease_id& lease, std::chrono::microseconds ago = std::chrono::seconds{1});
  void age(const std::string& name, std::chrono::microseconds unused_for);
  // Adds a later version's lock, of a kind that this version does not know.
  void make_unknown(const std::string& name);
  // Deletes the lock's row and everything that refers to it, as somebody may do by hand.
  void delete_lock(const std::string& name);

  // -- rivals --
  // A rival's transaction locks the row: the verbs skip it.
  void lock_row(const std::string& name);
  void unlock_row(const std::string& name);
  // A rival's transaction locks the row of a lease: kill skips it.
  void lock_row(const lease_id& lease) { lock_row(lease.to_string()); }
  void unlock_row(const lease_id& lease) { unlock_row(lease.to_string()); }
  // A guarded transaction locks the row, and the hold's permit where it has one: neither can be replaced, and release
  // skips them. False: the hold does not stand, or somebody has locked the row.
  bool guard(const std::string& name, const hold_id& hold);
  void unguard(const std::string& name);  // ends the latest guarded transaction
  // Commits the guarded transaction of that hold. False: its connection was lost, so it is rolled back.
  bool end_guard(const std::string& name, const hold_id& hold);

  // -- a cluster --
  // Sessions that connect from now on lead to the nodes of one cluster of this size, in turn.
  void make_cluster(std::size_t nodes);
  // From now on the node lags behind the others: it applies no more of their commits than the seam demands. A verb at
  // this node sees what was committed before it was called, or a later state that the node has. What the verb writes is
  // compared with the latest commits: if another node has changed one of the same rows since, the verb fails with
  // error(contention).
  void fall_behind(std::size_t node);
  // Lets the node apply everything.
  void catch_up(std::size_t node);

  // From now on the server sends no wake-ups: sessions hear of changes by asking. For databases opened after this call.
  void tell_nobody();
  // As on InnoDB, a commit can be read before it is on disk. Clients then call make_durable.
  void show_commits_early();
  // The server does not count changes either: it answers wakeup_poll::unknown to each question.
  void count_nothing();

  // -- faults --
  using hook = std::function<void(memory_call&)>;
  void on_call(hook around_each_verb);
  void unblock();  // lets every blocked call go on
  std::size_t blocked() const;
  void run_ghosts();
  // Gives each session's backend a name in backend(), so that ghosts can be ended.
  void name_backends();
  // Remembers the tables before each commit from now on, for crash and fail_over to go back to.
  void keep_history();
  // The server crashed and came back: the marker is empty, connections are gone and, if asked for, so is what
  // was committed asynchronously after the last durable commit.
  void crash(bool lose_asynchronous = false);
  // The server's identity differs from the recorded one; connections stay.
  void change_identity(const std::string& identity);
  // Another server takes over; the last commits may be lost.
  void fail_over(const std::string& identity, std::size_t lost_commits = 0);
  void lose_marker();

  // The next `count` wake-ups reach nobody.
  void lose_wakeups(std::size_t count);
  // Null: nobody observes.
  void observe(memory_observer* observer);

  // How many holds all calls of find() have looked for.
  std::size_t asked_about() const noexcept { return asked_about_.load(); }
  // How many permits all edits have read.
  std::size_t permits_read() const noexcept { return permits_read_.load(); }
  // The number of open connections.
  std::size_t sessions() const;
  // A copy of all tables, for tests that look at rows.
  memory_tables snapshot() const;

 private:
  friend class memory_session;
  friend class memory_database;
  friend struct memory_call;

  struct commit {
    memory_tables before;
    durability how;
  };
  struct ghost {
    std::string backend;
    std::function<void(memory_transaction&)> work;
  };

  memory_server();

  timestamp now() const;  // Requires: mutex_ is held.
  void call_hook(memory_call& call);
  // Called when a verb is sent to that node.
  memory_node::moment send(std::size_t node) const;
  // Executes the transaction at that node.
  void transact(const std::function<void(memory_transaction&)>& work, std::size_t node,
                const memory_node::moment& sent);
  void transact_locked(const std::function<void(memory_transaction&)>& work, memory_node* behind = nullptr);
  void announce(const wakeup& told);  // Requires: mutex_ is held.
  void break_sessions();              // Requires: mutex_ is held.

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  memory_tables tables_;
  std::string identity_ = "memory/1";
  std::string marker_;
  timestamp clock_;
  std::function<timestamp()> passes_by_;
  std::optional<timestamp> boot_time_;  // when let_time_pass was called
  std::set<std::string> locked_rows_;
  std::multimap<std::string, hold_id> guards_;
  std::set<memory_session*> sessions_;
  hook hook_;
  std::vector<ghost> ghosts_;
  std::vector<memory_node> nodes_{1};
  std::uint64_t commits_ = 0;
  std::vector<commit> history_;
  bool keeps_history_ = false;
  bool names_backends_ = false;
  bool tells_ = true;
  bool shows_commits_early_ = false;
  bool counts_ = true;
  memory_observer* observer_ = nullptr;
  std::size_t wakeups_to_lose_ = 0;
  std::uint64_t unblocked_ = 0;
  std::size_t blocked_ = 0;
  std::uint64_t next_backend_ = 1;
  std::size_t next_node_ = 0;
  std::atomic<std::size_t> asked_about_{0};
  std::atomic<std::size_t> permits_read_{0};
};

}  // namespace rowlock::store
