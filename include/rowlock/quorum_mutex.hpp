// A mutual exclusion lock on several independent databases, of any kinds. A majority of them grants it, so it survives
// the loss of the others.
//
//   rowlock::quorum_mutex global{{db1, db2, db3}, "global"};
//   if (auto held = global.try_acquire_for(5s)) run(held.token(), held.stop_token());
//
//                    | a majority grants | a majority has another holder | votes are split, or too few answer
//   try_acquire      | granted           | empty hold                    | empty hold, or error(unreachable)
//   try_acquire_for  | granted           | retries until the time passes | retries after a random pause
//   acquire          | granted           | retries                       | retries after a random pause
//
// All members are asked at once. Each has at most quorum_options::member_timeout to answer; once a majority has granted
// the lock, the others get only about as long again. A later grant is released. A failed attempt releases everything,
// everywhere. Each member's client renews that member's hold. There is no queue and no fairness: a waiter retries after
// random pauses of up to a quarter of a second. Prefer a mutex in one database that fails over without losing data.
//
// What it proves: any two majorities have a database in common, so two holders exclude each other as long as
// the members keep their commits (a member that lost its latest commits may grant the lock to a second
// holder; mutex.hpp says what each member promises). The token rises across all holders, because it is
// returned only when a majority has stored it durably. A guarded transaction in one member's database
// (member_hold(i) provides the guard) proves that member's hold only: a majority of the others may have
// granted the lock to somebody else. Compare the token where the data is.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <cstddef>

ROWLOCK_BEGIN_NAMESPACE

struct quorum_options {
  // How many databases there are. Empty: as many as clients are given. If one of them is down when the program starts,
  // leave out its client and set this: the database counts as one that does not answer.
  std::optional<std::size_t> members{};

  // How long one member may take to answer. At most a tenth of the shortest ttl of the clients, and of
  // acquire_options::ttl, because it shortens the remaining time of a new hold. Empty: a fiftieth of the shortest ttl
  // of the clients.
  std::optional<time_span> member_timeout{};

  // Subtracted from the remaining time of the members' holds, for clocks that run at different rates. Empty: a
  // hundredth of the shortest ttl, plus 2 milliseconds.
  std::optional<time_span> drift{};
};

// One acquisition of a quorum_mutex. Movable, not copyable. Destroying it releases the lock. It keeps its members'
// clients open, as a hold does. Thread safety: as a hold's.
class ROWLOCK_OWNER quorum_hold {
 public:
  quorum_hold() noexcept;                                // empty: holds nothing
  quorum_hold(quorum_hold&& other) noexcept;             // other is then empty
  quorum_hold& operator=(quorum_hold&& other) noexcept;  // releases the previous hold
  ~quorum_hold();

  // True until it is released, or fewer than a majority of the members' holds are valid; never again after that.
  // valid() does not subtract the drift, as remaining() does. After a loss and the stop token's callbacks the remaining
  // holds are released, so that others can get a majority.
  explicit operator bool() const noexcept { return valid(); }
  bool valid() const noexcept;

  // The fencing token: greater than that of every earlier hold of this name on any majority. 0 if empty.
  fencing_token token() const noexcept;

  const std::string& name() const noexcept;

  // Time until the hold counts as lost unless members are renewed before: the remaining time of a majority of the
  // members' holds, minus the drift. Zero if it is not valid.
  std::chrono::nanoseconds remaining() const noexcept;

  // As the functions of hold. loss() is that of the member's hold whose loss ended the majority. If loss() or release()
  // is called when the hold is lost and the stop token has not stopped yet, it may be that of another member's hold.
  // Unlike those of a hold, the stop token's callbacks may run on the thread that releases, destroys or assigns to this
  // object, if that thread is the first to find the loss; they run before the members' other holds are released.
  [[nodiscard]] std::stop_token stop_token() const noexcept;
  rowlock::loss loss() const noexcept;

  // How many clients the quorum_mutex has, and the hold on one of them, which is empty if that member has not
  // granted the lock. Use the hold's token and guard_statement(); see above for what they prove.
  std::size_t size() const noexcept;
  const hold& member_hold(std::size_t at) const;  // throws std::out_of_range

  // Attaches a text to the hold, as hold::set_data, on all members at once. Each has quorum_options::member_timeout to
  // answer; the call waits for all of them, and succeeds if a majority has stored the text. The other members, and
  // those that have not granted the lock, show the previous text or none; repeat the call to reach one that was away.
  //
  // Throws error: hold_lost if the hold is over, or if its databases say that fewer than a majority still
  // have it; invalid_argument; forked. If fewer than a majority have stored the text, it throws the error of one of
  // the others: a permanent refusal if the members that do not refuse are too few for a majority, otherwise
  // contention or unreachable (the guarded transaction of a member's hold may cause either).
  // outcome_unknown() is then true if a member has, or may still get, the new text. The hold is unchanged,
  // and the call may be repeated.
  void set_data(const std::string& text) const;

  // Releases the hold on all members at once; waits at most the longest options::close_timeout among them. `released`
  // if a majority says that it was held until now; `lost` if it had been lost before; otherwise `pending` or `unknown`,
  // as the other members say. A member whose answer was lost, and whose hold is gone when it is asked again, says
  // `unknown`: the hold may have been released by force just before. A second call returns the same result. Throws
  // error(forked) in a forked child.
  release_result release();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit quorum_hold(std::unique_ptr<primitives::quorum_state> state) noexcept;

  std::unique_ptr<primitives::quorum_state> state_;
};

// Thread safety: every member may be called from any thread at once. Movable, as mutex.
class ROWLOCK_EXPORT quorum_mutex {
 public:
  // members: clients of databases that fail independently; the same ones wherever the name is used. On each it is a
  // mutex of this name, with these lock options. Sends nothing. Throws error(invalid_argument) for an impossible name,
  // a client that occurs twice, fewer clients than a majority, or times that contradict each other.
  quorum_mutex(std::vector<client> members, std::string name, const quorum_options& settings = {},
               const lock_options& lock = {});
  quorum_mutex(quorum_mutex&& other) noexcept;
  quorum_mutex& operator=(quorum_mutex&& other) noexcept;
  ~quorum_mutex();  // its holds remain valid

  const std::string& name() const noexcept;

  // As the functions of mutex, but try_acquire_for() with a timeout above zero returns an empty hold also if too few
  // databases have answered by then. A permanent refusal by members (mismatch, privilege, not_migrated, closed) is
  // thrown if the other members are too few for a majority. If the call returns no hold, all members' grants are
  // released; a member that cannot be reached keeps its grant until its lease has expired. acquire_options::min_hold
  // and detect_deadlock are not available here and throw error(invalid_argument).
  quorum_hold acquire(const acquire_options& how = {});
  quorum_hold try_acquire(const acquire_options& how = {});
  quorum_hold try_acquire_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  quorum_hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                                const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), how);
  }

 private:
  std::unique_ptr<primitives::quorum_lock> lock_;
};

ROWLOCK_END_NAMESPACE
