// What rowlock throws is a rowlock::error, except std::bad_alloc and where a header names another type. A busy lock is
// a value instead (an empty hold), and so is a loss that a release finds (release_result::lost).
#pragma once

#include <rowlock/config.hpp>

#include <stdexcept>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

enum class errc {
  invalid_argument,  // an impossible argument, such as a name, duration, option or URL; nothing was changed
  mismatch,          // the stored lock has another kind, capacity or fairness than requested
  unreachable,       // no connection, no answer in time, or no thread could be started
  authentication,    // the user, the password or a certificate was refused
  privilege,         // the user may not use the database, or not read or write rowlock's tables
  read_only,         // the database is read-only, or a replica; or options::read_only is set
  not_migrated,      // no such database, or rowlock's tables are missing or older than this library
  too_new,           // the schema forbids libraries as old as this one (meta.min_library)
  cancelled,         // a stop token stopped the call
  broken_barrier,    // a member of the barrier's generation died or gave up; all may arrive again
  hold_lost,         // the operation needs a hold, and there is none or it is over
  deadlock,          // the caller would wait for itself, directly or through a circle of waiters
  closed,            // the client was closed
  forked,            // the client was made in the parent of this process
  contention,        // a row (SQLite: the file) was locked too long, or conflicts went on; see also reclaim()
  schema,            // a migration file, checksum or ledger that does not fit
  database,          // any other error of the database
  internal,          // a bug in rowlock
};

// The enumerator's name.
ROWLOCK_EXPORT const char* to_string(errc code) noexcept;

class ROWLOCK_EXPORT error : public std::runtime_error {
 public:
  // message: what was wrong, what was expected, what to do. It never contains a password. database_code: the SQLSTATE
  // or the driver's number; empty if the database reported none.
  error(errc code, const std::string& message, std::string database_code = {}, bool outcome_unknown = false);
  ~error() override;

  errc code() const noexcept { return code_; }

  // The same call may succeed later without any intervention. True for unreachable, read_only, broken_barrier and
  // contention, and for each error with outcome_unknown().
  bool transient() const noexcept;

  // The call may have taken effect, or may still do so: an answer was lost, or the request is still under way. rowlock
  // resolves this itself for acquire, renew and hold::release(). Other calls say what it means for them.
  bool outcome_unknown() const noexcept { return outcome_unknown_; }

  const std::string& database_code() const noexcept { return database_code_; }

 private:
  errc code_;
  bool outcome_unknown_;
  std::string database_code_;
};

ROWLOCK_END_NAMESPACE
