// Checks what the users of a quorum_mutex observe against the promises of <rowlock/quorum_mutex.hpp>. Each member's
// commits are checked by an oracle of its own.
#pragma once

#include "simulator/oracle.hpp"
#include "simulator/recorder.hpp"
#include "simulator/story.hpp"

#include <rowlock/quorum_mutex.hpp>

#include <cstdint>
#include <list>
#include <stop_token>
#include <vector>

namespace rowlock::simulator {

class quorum_oracle {
 public:
  quorum_oracle(const story& plan, scheduler& runs, recorder& records, std::vector<oracle*> members);

  // A call that requests the lock. `alone`: no other call, hold or operator interferes, so the call must succeed in a
  // calm run.
  struct attempt {
    nanoseconds began = 0;
    std::uint64_t number = 0;
    bool alone = false;
  };
  attempt begin_call();
  void end_call(const attempt& call, bool granted);

  // A call returned this hold. The object stays where it is until given_up() is called, before it is released. servers:
  // the server of each member.
  void delivered(const quorum_hold& got, const std::vector<std::size_t>& servers, const attempt& call);
  // The user looks at the hold.
  void seen(const quorum_hold& held);
  // The hold has been lost for a while.
  void lost(const quorum_hold& was);
  bool is_told(const quorum_hold& was) const;
  void given_up(const quorum_hold& was);
  // set_data() has succeeded.
  void text_stored(const quorum_hold& held, const std::string& text);
  // How many members have the hold in their databases.
  std::size_t standing(const quorum_hold& held) const;
  // release() was called when `stood` members had the hold.
  void released(const quorum_hold& was, std::size_t stood, release_result how);
  // The beginning and the end of a call that takes members' holds away. in_doubt: the call may still be executed.
  void force_begins();
  void force_ends(bool in_doubt);

  void check_holds_at_rest();

 private:
  struct live_hold {
    const quorum_hold* hold = nullptr;
    std::vector<std::size_t> servers;
    process* home = nullptr;
    std::stop_token told;
    nanoseconds began = 0;
    nanoseconds promised_until = 0;
  };

  const live_hold& known(const quorum_hold& held) const;
  bool is_valid(const live_hold& one) const;
  std::size_t standing(const live_hold& one) const;
  void promise(live_hold& one) const;
  void check_promise(const live_hold& one, const live_hold& next);
  bool was_still(const process& home) const;
  bool may_be_forced(const live_hold& one) const { return forces_ > 0 || one.began <= forced_at_; }
  [[noreturn]] void fail(std::string_view rule, const std::string& what) {
    members_.front()->fail(rule, what);
  }
  bool is_safe() const { return plan_.how != severity::unbounded; }

  const story& plan_;
  scheduler& runs_;
  recorder& records_;
  std::vector<oracle*> members_;
  std::list<live_hold> holds_;
  std::vector<live_hold> lost_;  // holds that were given up since; the answers of remaining() still count
  std::int64_t highest_ = 0;
  int forces_ = 0;  // calls that are under way, or in doubt
  nanoseconds forced_at_ = -1;
  int calls_ = 0;
  std::uint64_t begun_ = 0;
  nanoseconds busy_at_ = 0;  // when something that may interfere with a call happened last
};

}  // namespace rowlock::simulator
