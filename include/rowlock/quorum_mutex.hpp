// A mutual exclusion lock on several independent databases, of whatever kinds: it is held while most of them
// say so, and survives the loss of the others.
//
//   rowlock::quorum_mutex global{{db1, db2, db3}, "global"};
//   if (auto held = global.try_acquire_for(5s)) run(held->token(), held->stop_token());
//
//                    | a majority grants | a majority has another holder | votes are split, or too few answer
//   try_acquire      | granted           | empty                         | empty; error(unreachable)
//   try_acquire_for  | granted           | asks again, until it may not  | asks again after a random pause
//   acquire          | granted           | asks again                    | asks again after a random pause
//
// All members are asked at once. Each has quorum_options::member_timeout to answer; what comes later is given
// back. An attempt that fails gives back everything, everywhere. Each member's hold is on that client's own
// lease and renewed by it.
//
// Fair it is not: whoever waits asks again and again, after random pauses of up to a quarter of a second, and
// no queue says whose turn it is. One database that fails over without loss serves better, with mutex; this
// is for those that must survive without one of theirs.
//
// What it proves. Any two majorities have a database in common, so two holders exclude each other as long as
// the members keep what they were told (what each promises is said in mutex.hpp; a member that forgot its
// latest commits may vote twice). The token rises across all holders, whichever majority has granted them: it
// is told only when a majority of the members has written it down, durably, under the hold. A guarded
// transaction inside one member's database proves that member's hold and no more: nobody else is granted
// there before it ends, but a majority of the others may have gone on. member_hold(i) offers it; compare the
// token where the data is.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace rowlock::primitives {
class quorum_lock;
class quorum_state;
}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

struct quorum_options {
  // How many databases there are. 0: as many as clients are given. A program that starts while one of them is
  // down leaves its client out and says here that it exists: it counts as one that does not answer.
  std::size_t members = 0;

  // How long one member may take to answer. 0: a fiftieth of the shortest ttl among the clients. At most a
  // tenth of that ttl, or of acquire_options::ttl: the time goes off what the hold has left when it is
  // granted.
  std::chrono::milliseconds member_timeout{0};

  // Taken off what the members' holds have left, for clocks that run at different rates. 0: a hundredth of
  // the shortest ttl, and 2 milliseconds.
  std::chrono::milliseconds drift{0};
};

// A quorum_mutex that is held. Movable, not copyable. Destroying it releases it.
//
// Thread safety: as a hold's.
class ROWLOCK_EXPORT quorum_hold {
 public:
  quorum_hold() noexcept;  // holds nothing
  quorum_hold(quorum_hold&& other) noexcept;
  quorum_hold& operator=(quorum_hold&& other) noexcept;  // releases what was held before
  ~quorum_hold();

  // True until it is released, or fewer than a majority of its members' holds stand. Once false it stays so:
  // what its members still hold is given back then, after the stop token's callbacks have run, so that others
  // may have a majority however long this object is kept.
  bool valid() const noexcept;
  explicit operator bool() const noexcept { return valid(); }

  // The fencing token: above that of every earlier hold of this name on any majority of the same members.
  // Below 2^53. 0 when this object holds nothing.
  std::int64_t token() const noexcept;

  const std::string& name() const noexcept;

  // Time until it counts as lost unless members are renewed before: what a majority of the members' holds
  // have left, less the drift. Zero when it is not valid.
  std::chrono::nanoseconds remaining() const noexcept;

  // As hold's. loss() is the reason of the member's loss that left fewer than a majority.
  std::stop_token stop_token() const noexcept;
  rowlock::loss loss() const noexcept;

  // How many clients the quorum_mutex has, and the hold on one of them: it holds nothing where that member
  // has not granted. Good for its token and its guard_statement(); what that proves is said above.
  std::size_t size() const noexcept;
  const hold& member_hold(std::size_t at) const;  // throws std::out_of_range

  // Gives it back on all members at once; waits at most the longest options::close_timeout of theirs.
  // `released` when a majority says that it held until now; `lost` when it had been lost before; else
  // `pending` or `unknown`, as those members say that did not. A second call returns what the first did.
  release_result release();

  // For rowlock's own primitives.
  explicit quorum_hold(std::unique_ptr<primitives::quorum_state> state) noexcept;

 private:
  std::unique_ptr<primitives::quorum_state> state_;
};

// Thread safety: every member may be called from any thread at once.
class ROWLOCK_EXPORT quorum_mutex {
 public:
  // members: clients of databases that fail independently of each other; the same ones, wherever the name is
  // used. On each of them it is a mutex of this name. Sends nothing. Throws error(invalid_argument): for a
  // name as mutex does, for one client twice, for fewer clients than a majority, for times that contradict.
  quorum_mutex(std::vector<client> members, std::string name, const quorum_options& settings = {});
  ~quorum_mutex();  // holds live on
  quorum_mutex(const quorum_mutex&) = delete;
  quorum_mutex& operator=(const quorum_mutex&) = delete;

  const std::string& name() const noexcept;

  // As mutex's. What a member refuses for good (mismatch, privilege, not_migrated, closed) is thrown when no
  // majority is left without it. Whenever nothing is granted, whatever members have granted is given back; a
  // member that cannot be reached then keeps it until the lease there has run out. Throws
  // error(invalid_argument) also for acquire_options::min_hold and detect_deadlock, which it does not have.
  quorum_hold acquire(const acquire_options& how = {});
  std::optional<quorum_hold> try_acquire(const acquire_options& how = {});
  std::optional<quorum_hold> try_acquire_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  std::optional<quorum_hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                                               const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), how);
  }

 private:
  std::unique_ptr<primitives::quorum_lock> lock_;
};

ROWLOCK_END_NAMESPACE
