// An office with a name, for all processes that use the same database: one leads, the others stand by or observe.
//
//                | nobody leads     | another leads        | the leader's lease expired | this process leads
//   try_campaign | elected          | empty term           | kills it, elected          | empty term
//   campaign     | elected          | waits its turn       | kills it, waits its turn   | waits its turn
//   proclaim     | error(hold_lost) | error(hold_lost)     | error(hold_lost)           | publishes the value
//   observe      | led is false     | the leader's value   | led is false               | this leader's value
//
// The office is held like a mutex; mutex.hpp says what is promised and what is not. Candidates are elected in
// the order of their campaigns, unless lock_options::fair is false. The leader learns of its loss before another can be
// elected, with the exceptions in mutex.hpp. A term's token is greater than that of every earlier term: pass it to the
// systems that take orders from the leader.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/participant.hpp>

#include <utility>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// The leader's side: a hold of the office. Movable, and as thread-safe as a hold. Destroying it resigns.
class ROWLOCK_OWNER term {
 public:
  term() noexcept = default;  // empty: holds no office
  explicit term(hold office) noexcept : office_(std::move(office)) {}

  // As the functions of hold.
  explicit operator bool() const noexcept { return office_.valid(); }
  bool valid() const noexcept { return office_.valid(); }
  fencing_token token() const noexcept { return office_.token(); }
  [[nodiscard]] std::stop_token stop_token() const noexcept { return office_.stop_token(); }
  // For everything else: the remaining time, the reason of a loss, the guard for the leader's transactions.
  const hold& office() const noexcept { return office_; }

  // Publishes the term's value, such as the leader's address, to all who observe: UTF-8, at most 4096 bytes, no NUL. It
  // replaces the previous value; a new term has an empty one. It is the data of the office's hold: throws as
  // hold::set_data.
  void proclaim(const std::string& value);

  // Lets another process continue the term, as term{rowlock::adopt(db, text)}. As hold::transfer.
  [[nodiscard]] std::string transfer(time_span ttl) { return office_.transfer(ttl); }

  // Leaves the office; the first candidate is elected. As hold::release().
  release_result resign() { return office_.release(); }

 private:
  hold office_;
};

// What is known of an office at some moment.
struct leadership {
  bool led = false;           // false: nobody leads, or the leader's lease has expired
  fencing_token token{};      // of this term; if nobody leads, at least that of the last one
  std::string value{};        // what the leader proclaimed in this term
  std::string host{};         // where the leader runs
  std::int64_t pid = 0;       // the leader's process
  std::string application{};  // the leader's options::application

  bool operator==(const leadership&) const = default;
};

// Thread safety: every member may be called from any thread at once. Movable, as mutex.
class ROWLOCK_EXPORT election {
 public:
  election(client db, std::string name, const lock_options& lock = {});  // as mutex
  election(election&& other) noexcept;
  election& operator=(election&& other) noexcept;
  ~election();  // its terms remain valid

  const std::string& name() const noexcept;

  // As mutex::acquire, try_acquire, try_acquire_for and try_acquire_until.
  term campaign(const acquire_options& how = {});
  term try_campaign(const acquire_options& how = {});
  term try_campaign_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  term try_campaign_until(const std::chrono::time_point<Clock, Duration>& time,
                          const acquire_options& how = {}) {
    return try_campaign_for(time_limit::until(time), how);
  }

  // Who leads, as last written. The leader may change at any time. Throws error: mismatch for another kind,
  // unreachable, others.
  [[nodiscard]] leadership observe() const;

  // The leader, if there is one, then the candidates in queue order, without those whose lease has expired. Reads
  // twice: a leader that resigns in between may be missing. Throws as observe().
  [[nodiscard]] std::vector<participant> candidates() const;

  // Waits until observe() differs from `seen`, and returns it; with a default leadership, until somebody
  // leads. If the time passes or stop is requested first, it returns `seen`. If several changes follow each
  // other quickly, it returns only the last. A change wakes the call at once, except on MariaDB and MySQL, and
  // behind a pooler without options::listen_url, where it polls every options::poll_interval. A leader that vanishes
  // without a successor wakes nobody; elsewhere the call looks for that every five options::poll_interval. An unreachable
  // database does not end the wait; if the database is still unreachable at the end, the call throws error(unreachable),
  // unless stop was requested. The last read may take options::statement_timeout longer than the timeout. Throws also as
  // observe(), and error(read_only) if options::read_only is set.
  [[nodiscard]] leadership wait(const leadership& seen, std::stop_token stop = {}) const {
    return wait_for(forever, seen, std::move(stop));
  }
  [[nodiscard]] leadership wait_for(time_limit timeout, const leadership& seen,
                                    std::stop_token stop = {}) const;
  template <class Clock, class Duration>
  [[nodiscard]] leadership wait_until(const std::chrono::time_point<Clock, Duration>& time,
                                      const leadership& seen, std::stop_token stop = {}) const {
    return wait_for(time_limit::until(time), seen, std::move(stop));
  }

 private:
  friend struct primitives::access;

  std::unique_ptr<primitives::named_lock> office_;
};

ROWLOCK_END_NAMESPACE
