// Whether a connection waits for the row of a lock that other clients want as well.
//
// While many clients take permits of one lock, most of them find its row locked for a moment. A statement
// that skips the row has done its work for nothing, and the more clients there are, the more of the server's
// work is of that sort. A statement that waits in the server's own queue for the row does no work for
// nothing. But a guarded transaction may keep the row for as long as the user likes, and everything else that
// this connection has to send would wait, too. So a wait is short (the statement take_hot_row). After a wait
// in vain, which PostgreSQL also writes into its log as an error, the connection waits for no row for a
// while, and for longer after each further one.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace rowlock::store {

// Belongs to one connection. Not thread-safe.
class hot_row {
 public:
  using instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds longest_wait{100};
  // For how long a row that was locked once counts as hot.
  static constexpr std::chrono::seconds stays_hot{1};
  // How long the connection waits for no row after a wait in vain. Each further wait in vain doubles this
  // time, up to the limit; a wait that was not in vain resets it.
  static constexpr std::chrono::seconds gives_up_for{1};
  static constexpr std::chrono::seconds gives_up_at_most{64};

  // A wait that the server ended by its limit for any statement would count as a failure of the database, not as a wait
  // in vain. So it ends after half of that limit, if that is shorter.
  explicit hot_row(std::chrono::milliseconds statement_timeout)
      : waits_at_most_{std::clamp<std::chrono::milliseconds>(statement_timeout / 2,
                                                             std::chrono::milliseconds{1}, longest_wait)} {}

  std::chrono::milliseconds waits_at_most() const { return waits_at_most_; }
  bool waits_for(std::string_view name, instant now) const {
    return name == name_ && now < hot_until_ && now >= waits_again_at_;
  }
  void was_locked(std::string_view name, instant now) {
    name_ = name;
    hot_until_ = now + stays_hot;
  }
  void waited_in_vain(instant now) {
    waits_again_at_ = now + pause_;
    pause_ = std::min(2 * pause_, gives_up_at_most);
  }
  void had_its_turn() { pause_ = gives_up_for; }

 private:
  std::chrono::milliseconds waits_at_most_;
  std::string name_;
  instant hot_until_{};
  instant waits_again_at_{};
  std::chrono::seconds pause_ = gives_up_for;
};

}  // namespace rowlock::store
