// Checks every commit of the server, and what the users observe, against the invariants of docs/design.md.
#pragma once

#include "memory/memory_server.hpp"
#include "simulator/recorder.hpp"
#include "simulator/story.hpp"

#include "client/core/hold_state.hpp"

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace rowlock::simulator {

// A function that is called with a rule and with what broke it. It must not return.
using violation = std::function<void(std::string_view rule, const std::string& what)>;

class oracle final : public store::memory_observer {
 public:
  oracle(const story& plan, scheduler& runs, recorder& records, violation found);

  // ---- the server ----
  void committed(const store::memory_tables& after, store::timestamp now, store::durability how) override;
  void taken_back(const store::memory_tables& after) override;
  void refused(std::string_view why) override;
  void conflicted() override;

  // ---- the users ----
  // A call returned this hold. alone: the call requested nothing else.
  void delivered(const hold& got, bool alone = true);
  // Fails if this hold was never granted.
  void check_granted(const hold& got);
  // Whether the database has the hold now.
  bool stands(const hold& one) const;
  bool has_text(const hold& one, const std::string& text) const;
  // The hold has been lost for a while.
  void lost(const hold& was);
  bool is_told(const hold& was) const;
  // The only call of this program that requested permits of that semaphore was refused: the name is another kind or
  // size. What was granted on a lease earlier than the present one ends with that lease.
  void refused_as_other(const std::string& name, const model::lease_id& lease);
  // The user is about to release the hold, or to pass it on.
  void given_up(const hold& was);
  void given_up(const std::shared_ptr<client_layer::hold_state>& was);
  // The hold has been transferred.
  void passed_on(const hold& was);
  void released(const std::string& name, const hold_id& id, release_result how);
  // The beginning and the end of a call that takes holds from their holders. in_doubt: the call may still be executed.
  void force_begins(const std::string& name) { ++forced_[name]; }
  void force_ends(const std::string& name, bool in_doubt) { forced_[name] -= in_doubt ? 0 : 1; }
  // The beginning and the end of hold::set_data.
  void text_begins(const hold& held, const std::string& text);
  void text_stored(const hold& held, const std::string& text);
  void text_refused(const hold& held, const std::string& text, const error& failure);
  // An operator sees this text of a hold that its user keeps.
  void text_seen(const hold& held, const std::string& text);
  // An arrival at the barrier returned this number.
  void met(const std::string& name, std::int64_t generation);
  // An arrival may complete a generation without learning of it.
  void arrival_abandoned() { ++arrivals_abandoned_; }
  // A call that began then found the latch open.
  void found_open(const std::string& name, nanoseconds began);
  // The guarded transaction of that hold has committed.
  void guarded_write(const std::string& name, const model::hold_id& hold, std::int64_t token);
  // The beginning and the end of an operation of a program's thread, whose calls may wait for locks.
  void begins(const process& home) { ++busy_[home.id].operations; }
  void ends(const process& home);
  // In a calm run: how late a release, a withdrawal and a renewal may be. That is the time of its own statements (a
  // fast one, a hand-over, an edit, what follows it) and of one piece of other work: a batch, a task, or a step of the
  // lease keeper. A statement takes at most twice the latency.
  nanoseconds prompt() const { return 2 * 12 * plan_.latency; }
  // A release that may take `limit`, or less in a calm run if no guarded transaction keeps the row.
  void release_ended(const std::string& name, nanoseconds began, nanoseconds stalled_before,
                     nanoseconds limit);
  // A call that may take `limit`, not counting the time during which its process stood still.
  void call_ended(std::string_view what, nanoseconds began, nanoseconds stalled_before, nanoseconds limit);
  void logged(std::string_view line);
  void call_failed(std::string_view what, const error& failure, bool expected);

  // ---- at the end, when everything is quiet ----
  bool has_untold_holds() const;  // holds that may be lost, but only since a moment
  void check_holds_at_rest();
  void check_nothing_is_left();  // before the clients close
  void check_closed();           // after they have closed

  [[noreturn]] void fail(std::string_view rule, const std::string& what);
  // When the epoch was raised last.
  nanoseconds epoch_raised_at() const { return epoch_raised_at_; }

 private:
  struct entry {
    model::hold_id hold;
    model::lease_id lease;
    std::int64_t weight = 0;
    model::token token = 0;
    bool exclusive = false;
    bool operator==(const entry&) const = default;
  };
  struct watched_lock {
    model::lock_row row;
    std::vector<entry> entries;
    std::vector<model::waiter> queue;
  };
  struct live_hold {
    std::string name;
    model::hold_id id;
    std::shared_ptr<client_layer::hold_state> state;
    std::stop_token stop;
    process* home = nullptr;
    bool slow_callbacks = false;
  };

  struct known_texts {
    std::vector<std::string> may_be{""};  // the texts one of which is stored
    std::string stored{};
    bool was_gone = false;  // the hold was gone when the latest set_data began
  };
  struct business {
    int operations = 0;
    nanoseconds idle_since = 0;
  };
  struct opening {
    bool is_open = false;
    nanoseconds closed_at = -1;  // when the client closed for the last time
  };

  static std::vector<entry> entries_of(const store::memory_tables& tables, const store::memory_lock& lock);
  void check_lock(const std::string& name, const store::memory_tables& after, store::timestamp now,
                  store::durability how);
  void check_exclusion(const watched_lock& was, const watched_lock& is, const store::memory_tables& after);
  void check_order(const watched_lock& was, const watched_lock& is, const std::vector<entry>& granted,
                   const store::memory_tables& after, store::timestamp now);
  void check_holders_know(const std::string& name, const std::vector<entry>& entries,
                          const std::vector<entry>& granted);
  void check_leases(const store::memory_tables& after, store::timestamp now, store::durability how);
  void check_renewed(const model::lease_id& id, const store::memory_lease& was);
  void check_withdrawn(const store::memory_tables& after);
  void check_left_nothing(const model::lease_id& ended);
  void check_texts(const watched_lock& was, const watched_lock& is, const store::memory_tables& after);
  void check_meetings();
  void note_opening(const std::string& name, bool is_open);
  void remember(const store::memory_tables& after);
  void note_gone(const watched_lock& was, const std::vector<entry>& entries);
  void check_loss(const live_hold& one, const entry& stands);
  bool is_valid(const live_hold& one) const;
  bool was_still(const process& home) const;
  bool is_safe() const { return plan_.how != severity::unbounded; }

  const story& plan_;
  scheduler& runs_;
  recorder& records_;
  violation found_;
  std::map<std::string, watched_lock> locks_;
  std::map<model::lease_id, store::memory_lease> leases_;
  std::set<model::lease_id> dead_leases_;
  std::map<model::lease_id, nanoseconds> renewed_at_;
  std::map<int, business> busy_;  // by process
  std::int64_t epoch_ = 0;
  nanoseconds epoch_raised_at_ = 0;
  std::map<std::string, model::token> highest_;
  std::map<std::string, std::map<model::hold_id, std::set<model::token>>> granted_;
  std::map<model::hold_id, nanoseconds> granted_to_waiter_at_;
  std::map<std::string, model::token> written_;
  std::map<std::string, int> forced_;  // how many calls, under way or in doubt, may take holds away
  std::set<model::hold_id> taken_by_force_;
  std::set<model::hold_id> gone_;  // holds that stood once, and then did not
  std::multimap<model::hold_id, live_hold> holds_;
  std::map<model::hold_id, known_texts> texts_;             // of the holds for which set_data was called
  std::map<std::string, std::map<std::int64_t, int>> met_;  // how many arrivals were told each generation
  std::int64_t arrivals_abandoned_ = 0;
  std::map<std::string, opening> openings_;
};

// The verb that the calling thread has sent.
inline thread_local std::string_view current_verb;

}  // namespace rowlock::simulator
