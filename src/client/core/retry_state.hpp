// When to retry an operation whose row was locked or whose statement failed. Each pause grows until its cause
// has ended.
//
//   event      | row                            | consecutive failures | in its next batch
//   row_locked | locked, since the first of it  | -                    | -
//   looked     | a read has shown who holds it  | -                    | -
//   failed     | unlocked, as far as is known   | one more             | with others
//   refused    | unlocked, as far as is known   | one more             | alone
//   set_apart  | unlocked, as far as is known   | -                    | alone
#pragma once

#include "client/base/backoff.hpp"
#include "client/base/time_source.hpp"

#include <optional>

namespace rowlock::client_layer {

// A value. Used by the thread that owns the operation.
class retry_state {
 public:
  // A row that stays locked for longer is reported to callers, unless a holder keeps it; so is a database that answers
  // nothing for as long.
  static constexpr std::chrono::milliseconds row_lock_limit{800};

  // Since when the row has been locked at every try. Empty: it was not locked at the latest one.
  const std::optional<instant>& locked_since() const { return locked_since_; }
  bool is_locked_out(instant now) const { return locked_since_ && now > *locked_since_ + row_lock_limit; }
  bool has_looked() const { return looked_; }
  int failures() const { return failures_; }
  bool goes_alone() const { return alone_; }

  void row_locked(instant sent_at) {
    if (!locked_since_) locked_since_ = sent_at;
  }
  void looked() { looked_ = true; }
  void failed() {
    alone_ = false;
    ++failures_;
    forget_row();
  }
  // The operation was refused although it was sent alone, so the others of its next batch would be refused
  // with it.
  void refused() {
    failed();
    alone_ = true;
  }
  // Its batch was refused, and one request of it may be the reason.
  void set_apart() {
    alone_ = true;
    forget_row();
  }

  backoff row = row_probe();           // after a locked row
  backoff background = sweep_pause();  // after a locked row, where nobody waits
  backoff again = failure_pause();     // after a failure

 private:
  void forget_row() {
    locked_since_.reset();
    looked_ = false;
  }

  std::optional<instant> locked_since_{};
  bool looked_ = false;
  int failures_ = 0;
  bool alone_ = false;
};

}  // namespace rowlock::client_layer
