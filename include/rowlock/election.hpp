// An office with a name, for all processes that use the same database: one is the leader, the others stand by
// or look on.
//
//                   | nobody leads  | another leads    | the leader's lease expired  | this process leads
//   try_campaign    | elected       | empty            | it is killed, elected       | empty
//   campaign        | elected       | waits its turn   | it is killed, then in order | waits its turn
//   proclaim        | error         | error(hold_lost) | error(hold_lost)            | everybody sees it
//   observe         | led is false  | the leader, and  | led is false                | as any other
//                   |               | its value        |                             |
//
// The office is held like a mutex, with all that mutex.hpp promises and does not: candidates are elected in
// the order of their campaigns, the leader is told of its loss before another can be elected, and its token,
// above that of every earlier term, is for the systems that it gives orders to.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::primitives {
class acquirer;
}

ROWLOCK_BEGIN_NAMESPACE

class wanted;

// The leader's side: movable, and as safe between threads as a hold. Destroying it resigns.
class ROWLOCK_EXPORT term {
 public:
  explicit term(hold office) noexcept : office_(std::move(office)) {}

  // True until it is resigned or lost; as hold::valid().
  explicit operator bool() const noexcept { return office_.valid(); }
  bool valid() const noexcept { return office_.valid(); }
  std::int64_t token() const noexcept { return office_.token(); }
  // Stops when the office is lost; as hold::stop_token().
  std::stop_token stop_token() const noexcept { return office_.stop_token(); }
  // For the rest: how long it lasts, why it was lost, the guard for the leader's own transactions.
  const hold& office() const noexcept { return office_; }

  // Says something to all who observe, such as the leader's address: UTF-8, at most 4096 bytes, no NUL. It
  // replaces what was said in this term before, and a new term begins with an empty value. Written only while
  // the office is held, which is decided under its row. Throws error: hold_lost when it is not;
  // invalid_argument; contention when a guarded transaction of this hold's is open (MariaDB, MySQL) for
  // longer than options::statement_timeout; unreachable. What was proclaimed before stands then, unless
  // outcome_unknown() is true; it may be asked again.
  void proclaim(const std::string& value);

  // Gives the term to another process, which takes it on as term{*rowlock::adopt(db, text)}. As
  // hold::hand_over.
  std::string hand_over(std::chrono::milliseconds ttl) { return office_.hand_over(ttl); }

  // Leaves office; the first who campaigns is elected. As hold::release().
  release_result resign() { return office_.release(); }

 private:
  hold office_;
};

// What is known of an office at some moment.
struct leadership {
  bool led = false;        // false: nobody leads, or the leader's lease has expired
  std::int64_t token = 0;  // of this term; when nobody leads, at least that of the last one
  std::string value{};     // what was proclaimed in this term
  std::string host{};      // the leader's, as the following
  std::int64_t pid = 0;
  std::string application{};  // options::application

  bool operator==(const leadership&) const = default;
};

// Thread safety: every member may be called from any thread at once.
class ROWLOCK_EXPORT election {
 public:
  election(client db, std::string name, const lock_options& lock = {});  // as mutex
  ~election();                                                           // terms live on
  election(const election&) = delete;
  election& operator=(const election&) = delete;

  const std::string& name() const noexcept;

  // As mutex::acquire and its siblings: nothing is held unless a term is returned.
  term campaign(const acquire_options& how = {});
  std::optional<term> try_campaign(const acquire_options& how = {});
  std::optional<term> campaign_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  std::optional<term> campaign_until(const std::chrono::time_point<Clock, Duration>& time,
                                     const acquire_options& how = {}) {
    return campaign_for(time_limit::until(time), how);
  }

  // Who leads, as last written. Reads; it may have changed when it is told. Throws error: mismatch when the
  // name is another kind of lock, unreachable and such.
  leadership observe() const;

  // Waits until what observe() says differs from `seen`, and returns it; of a default leadership, which
  // has seen nothing, until somebody leads. Empty: nothing had changed by then, or stop was requested. Of
  // changes that follow each other closely only the last is seen.
  // It is woken when the office changes hands, or something is proclaimed, and looks again every fifth
  // options::poll_interval, should that get lost or the leader's lease just run out; on MariaDB and MySQL,
  // which tell nobody of changes, every poll_interval. A database that cannot be reached meanwhile does not
  // end the wait; at its end error(unreachable) is thrown then. Its last look may take
  // options::statement_timeout longer than the timeout; stop ends that too. Changes nothing.
  std::optional<leadership> wait_for_change(const leadership& seen, time_limit timeout,
                                            std::stop_token stop = {}) const;

 private:
  friend class wanted;  // of acquire_all.hpp
  std::unique_ptr<primitives::acquirer> office_;
};

ROWLOCK_END_NAMESPACE
