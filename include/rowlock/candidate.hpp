// A candidate for an office (election.hpp) that campaigns in the background and calls the program when it wins or loses
// the office. It needs no thread of its own.
//
//   rowlock::candidate leader{pool, scheduler, {.elected = [&](rowlock::term& term, std::stop_token over) {
//                                                 term.proclaim(address);
//                                                 begin_to_schedule(term.token(), over);
//                                               },
//                                               .lost = [&](rowlock::loss) { end_to_schedule(); }}};
//
//                       | it waits              | it leads                       | it is over
//   the office is       | elected() is called   | -                              | -
//   granted             |                       |                                |
//   the office is lost  | -                     | `over` stops; then lost(why)   | -
//   resign()            | false; it waits on    | `over` stops; then lost(none), | false
//                       |                       | then the office is released    |
//   an error that lasts | over: failed(error)   | -                              | -
//   elected() throws    | -                     | lost(none), released; then     | -
//                       |                       | over: failed(what it threw)    |
//   close(silent)       | over                  | `over` stops; released         | nothing
//   close(tell)         | over                  | `over` stops; lost(why),       | nothing
//                       |                       | released                       |
//   the client closes   | over: failed(closed)  | `over` stops; lost(closed);    | -
//                       |                       | then over: failed(closed), but |
//                       |                       | without `requeue` no notice    |
//   the executor drops  | over, without a       | released, over, without a      | -
//   its function        | notice                | notice                         |
//
// After a loss or a resignation it campaigns again, behind all who wait by then, unless `requeue` is false. An office
// that is lost before elected() was called counts for nothing: the candidate campaigns again in any case.
#pragma once

#include <rowlock/async.hpp>
#include <rowlock/election.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <stop_token>

ROWLOCK_BEGIN_NAMESPACE

namespace primitives {
class candidacy;
}

// The functions run on the executor, one at a time, except the lost() of close(tell). The office is renewed meanwhile,
// and its loss stops `over` at once. Each call of elected() is followed by a call of lost(), unless the candidate is
// closed silently or the executor drops its function.
struct candidate_options {
  // The candidate leads from now on. The term object stays valid until lost() or close() has returned. `over` stops
  // when the term is lost, resigned or closed. The callbacks of `over` run on the thread that stops it: keep them
  // short, and do not close the candidate in them. elected() is not called if the office is lost before the executor
  // runs it. To resign, call candidate::resign(): the candidate does not notice if you end the term itself.
  std::function<void(term&, std::stop_token over)> elected;

  // The term has ended. If why is none, the office was not lost: the candidate has resigned or was closed, or elected()
  // has thrown or, with until_return, returned. The office is then released when lost() returns.
  std::function<void(loss why)> lost{};

  // The candidate is over because of a permanent error (error: mismatch, privilege, closed, cancelled and
  // others), or because elected() or lost() has thrown. If this function is empty, the error is logged.
  std::function<void(std::exception_ptr why)> failed{};

  // True: the term ends when elected() returns, as if by resign().
  bool until_return = false;

  // Whether the candidate campaigns again after a term. If not, it is over when lost() has returned.
  bool requeue = true;

  // The options of each campaign, as for election::campaign. A ttl limits each term. A stop request ends the wait with
  // error(cancelled).
  acquire_options acquire{};
};

enum class candidate_state {
  waiting,  // not one of the others: it stands in the queue, or elected(), lost() or failed() is about to be called
  leading,  // elected() was called, and the office is held
  over,     // closed, failed, or at the end of its term without `requeue`
};
ROWLOCK_EXPORT const char* to_string(candidate_state state) noexcept;

enum class close_mode {
  silent,  // lost() is not called
  tell,    // a leader gets a last lost() on the closing thread, with loss::none unless it was just lost
};

// Thread safety: every member but the destructor and moves may be called from any thread at once, also in the functions
// above. A moved-from candidate may only be assigned to or destroyed.
class ROWLOCK_EXPORT candidate {
 public:
  // Begins to campaign; elected() may be called before this returns. Throws error: invalid_argument for an empty
  // executor or elected(), for detect_deadlock, for an impossible ttl or min_hold, and for too many holds
  // (options::margin); closed; forked; read_only; unreachable if a thread cannot be started. Keeps its client open until
  // it is destroyed.
  candidate(executor where, const election& office, candidate_options how);
  candidate(candidate&& other) noexcept;
  candidate& operator=(candidate&& other) noexcept;  // closes the previous one
  ~candidate();                                      // close()

  candidate_state state() const;  // throws error(forked)

  // Ends the term: stops `over`, and returns without waiting for lost(), which is called on the executor before the
  // office is released. False: the candidate does not lead, and nothing happens. Throws error(forked).
  bool resign();

  // Ends the candidate: no function above begins after that. Waits until none of them is running, unless one of them
  // calls close(); then at most options::close_timeout for the release of the office. A second call only waits for the
  // first one, unless one of the functions makes it. Does nothing in a forked child.
  void close(close_mode mode = close_mode::silent);

 private:
  client db_;
  std::shared_ptr<primitives::candidacy> candidacy_;
};

ROWLOCK_END_NAMESPACE
