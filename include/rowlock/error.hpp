// Everything thrown is a rowlock::error. Busy and lost are values instead: an empty hold, a release_result, a loss.
#pragma once

#include <rowlock/config.hpp>

#include <stdexcept>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

enum class errc {
  invalid_argument,  // an impossible name, duration, option or URL; nothing was changed
  mismatch,          // the stored lock has another kind, capacity or fairness than requested
  unreachable,       // no connection, or it broke and could not be restored in time
  authentication,    // the database refused the user or the password
  privilege,         // the user may not read or write rowlock's tables
  read_only,         // the database is read-only, or a replica
  not_migrated,      // rowlock's tables are missing or older than this library
  too_new,           // the schema forbids libraries as old as this one (meta.min_library)
  cancelled,         // a stop token stopped an acquire
  broken_barrier,    // another member of the barrier's generation died or gave up; all may arrive again
  hold_lost,         // the operation needs a hold that is no longer held
  deadlock,          // the caller would wait for itself, directly or through a circle of waiters
  closed,            // the client was closed
  forked,            // the client was made in the parent of this process
  contention,        // another transaction kept the lock's row too long, or deadlocks outlived all retries
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

  // The same call may succeed later without any intervention.
  bool transient() const noexcept;

  // The statement was sent but its answer was lost, so it may or may not have been executed. rowlock resolves this
  // itself for acquire, renew and release. Other calls say what it means for them.
  bool outcome_unknown() const noexcept { return outcome_unknown_; }

  const std::string& database_code() const noexcept { return database_code_; }

 private:
  errc code_;
  bool outcome_unknown_;
  std::string database_code_;
};

ROWLOCK_END_NAMESPACE
