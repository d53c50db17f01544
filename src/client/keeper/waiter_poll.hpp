// Looks up this process's waiters in the database: all of them when a holder in their way may be killed, and
// at least every poll interval; some when a wake-up names them.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/connection/session_slot.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/request_settler.hpp"
#include "client/core/submission_queue.hpp"
#include "client/core/waiter_registry.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace rowlock::client_layer {

// Used by the lease keeper's thread.
class waiter_poll {
 public:
  waiter_poll(client_environment& environment, submission_queue& queue, waiter_registry& waiters,
              request_settler& settler, hold_registry& holds, keeper_agenda& agenda, session_slot& slot);

  instant next() const;  // when the next step of a look is due
  // Plans the next look and begins it, unless one is under way; then takes a step of it.
  void look();
  // A wake-up came that names no waiter. A look that is under way begins again, because it may have passed the waiter
  // that is meant.
  void begin_again() noexcept {
    agenda_.plan_look(instant{});
    asked_ = 0;
    to_ask_.clear();
  }

  // Looks up some of the waiters that keeper_agenda::look_up() has named. They stay due until a look has succeeded.
  void look_at_named();

  // When a database that sends no wake-ups is to be polled for them: while somebody waits, and only then.
  instant next_poll();
  // Plans the next poll, then polls.
  store::wakeup_poll poll_wakeups();

  // The database has refused a look with an error that is not transient. If that happens repeatedly, the
  // waiters get the error, as a new caller would.
  void refused(const std::exception_ptr& why);
  void fail_all(const std::exception_ptr& why);

 private:
  // Each of these two sends a statement or two, so that a renewal waits for no more than that, however many
  // waiters there are.
  void look_at(std::span<const store::hold_query> waiters, instant now);
  void ask_barrier(instant now);

  // Empty: only the other members of the waiter's barrier can tell.
  std::optional<std::chrono::microseconds> due_in(const store::hold_status& status) const;
  void wait_or_ask(const std::string& name, model::hold_id hold, std::chrono::microseconds takeover_in,
                   instant now);

  client_environment& environment_;
  submission_queue& queue_;
  waiter_registry& waiters_;
  request_settler& settler_;
  hold_registry& holds_;
  keeper_agenda& agenda_;
  session_slot& slot_;
  instant poll_at_ = instant::max();  // never: nobody waits
  backoff poll_pause_ = wakeup_poll_pause();
  int refusals_ = 0;  // in a row

  // A look that is under way: whom it is about, how many of these were looked up, and the names for which a request was
  // sent, because one is enough to have the dead removed.
  std::vector<store::hold_query> to_ask_;
  std::size_t asked_ = 0;
  std::unordered_set<std::string> sent_;
  // Waiters whose barriers must still be asked. A new look does not drop them.
  std::unordered_map<std::string, std::unordered_set<model::hold_id>> barriers_;
};

}  // namespace rowlock::client_layer
