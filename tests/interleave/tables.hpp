// The tables as plain SQL shows them after each step of a run, and the invariants of docs/design.md on them.
#pragma once

#include "sql_session.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rowlock::test {

// The rows of the names of one run, as one statement has read them. Ids are 32 hex digits; an empty text is no id.
struct tables {
  struct lock_row {
    std::string kind;
    std::int64_t capacity = 0, in_use = 0, token = 0, next_ticket = 0;
    std::string lease, hold;
    bool has_queue = false;
  };
  struct permit_row {
    std::string lease;
    std::int64_t weight = 0, token = 0;
  };
  struct waiter_row {
    std::string hold, lease, mode;
    std::int64_t weight = 0;
  };
  struct lease_row {
    std::int64_t expires_at = 0;  // microseconds since some day
    bool has_expired = false;
  };
  std::map<std::string, lock_row> locks;
  std::map<std::string, std::map<std::string, permit_row>> permits;  // by name and hold
  std::map<std::string, std::map<std::int64_t, waiter_row>> queues;  // by name and ticket
  std::map<std::string, lease_row> leases;
  std::int64_t token_floor = 0;  // of collected names
  std::int64_t epoch_floor = 0;
  std::string identity;  // of the recorded server

  bool lives(const std::string& id) const { return leases.contains(id); }
  bool holds(const std::string& name, const std::string& hold) const;
  bool waits(const std::string& name, const std::string& hold) const;
  // How much of the lock's capacity living leases hold.
  std::int64_t weight_of_the_living(const std::string& name) const;
};

// Reads the rows of all names that begin with run/, and the leases of the application `run`.
tables read_tables(sql_session& session, const std::string& prefix, const std::string& run);

// Follows one run from step to step. Members return the violations, one a line; empty: none.
class table_rules {
 public:
  explicit table_rules(tables at_the_start);

  // The following say what a run is about to do, which the rules must know.
  void may_end(const std::string& lease) { ending_.insert(lease); }  // by its owner
  void clock_may_change() { clock_changes_ = true; }
  // Somebody raises the epoch by hand: a grant under way may carry an old token.
  void epoch_may_rise() { epoch_rises_ = true; }
  // A transaction of the user's relies on that hold from now on, or no longer.
  void guard(const std::string& name, const std::string& hold) { guarded_[name] = hold; }
  void unguard(const std::string& name) { guarded_.erase(name); }

  std::string after_step(tables now);
  // Checks the state in which nothing moves any more.
  std::string at_the_end() const;

  const tables& now() const { return now_; }
  // The token with which each hold was granted, as far as a step showed the grant.
  const std::map<std::string, std::int64_t>& grants() const { return grants_; }

 private:
  void check_lock(const std::string& name, const tables& now);
  void check_grant(const std::string& name, const std::string& hold, std::int64_t token, const tables& now);
  void check_leases(const tables& now);
  void wrong(const std::string& what) { found_ += what + '\n'; }

  tables now_;
  std::map<std::string, std::int64_t> highest_;  // the highest token of each name, through collections
  std::map<std::string, std::int64_t> grants_;
  std::set<std::string> dead_, ending_;
  std::map<std::string, std::string> guarded_;
  bool clock_changes_ = false, epoch_rises_ = false;
  std::string found_;
};

}  // namespace rowlock::test
