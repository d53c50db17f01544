// Errors that answer questions: what kind, is it transient, is the outcome unknown, what did the database
// say.
//
// A conflict is not an error: "busy" is a value (an empty optional) wherever a call may give up, and a lost
// hold is a value too (release_result, loss). What is thrown is always a rowlock::error.
#pragma once

#include <rowlock/config.hpp>

#include <stdexcept>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

enum class errc {
  invalid_argument,  // a name, duration, option or URL that cannot be right; nothing was changed
  mismatch,          // the stored lock has another kind or capacity than the one asked for
  unreachable,       // no connection, or it broke and stayed broken
  authentication,    // the database refused the user or the password
  privilege,         // the user may not read or write rowlock's tables
  read_only,         // the database is read-only, or a replica
  not_migrated,      // rowlock's tables are missing or older than this library
  too_new,           // the schema forbids libraries as old as this one (meta.min_library)
  cancelled,         // an acquire was stopped by its stop token
  broken_barrier,    // another member of a barrier's generation died or gave up; all may arrive again
  hold_lost,         // an operation needed a hold that is no longer held
  deadlock,          // the caller already holds what it is about to wait for, or waits in a circle
  closed,            // the client was closed
  forked,            // the client was made in the parent of this process
  contention,        // deadlock or serialization failure of our own that outlived its retries
  schema,            // a migration file, checksum or ledger that does not fit
  database,          // anything else the database said
  internal,          // a fault of rowlock
};

// The enumerator's own name, as it is printed.
ROWLOCK_EXPORT const char* to_string(errc code) noexcept;

class ROWLOCK_EXPORT error : public std::runtime_error {
 public:
  // message: what was wrong, what was expected, what to do. It never holds a password.
  // database_code: SQLSTATE or the driver's own number, empty when the database said nothing.
  error(errc code, const std::string& message, std::string database_code = {}, bool outcome_unknown = false);
  ~error() override;

  errc code() const noexcept { return code_; }

  // The same call may succeed later with nothing changed by hand.
  bool transient() const noexcept;

  // The statement was sent and its answer was lost: it may or may not have happened. rowlock settles this
  // itself for acquire, renew and release; callers see it only from administrative calls.
  bool outcome_unknown() const noexcept { return outcome_unknown_; }

  const std::string& database_code() const noexcept { return database_code_; }

 private:
  errc code_;
  bool outcome_unknown_;
  std::string database_code_;
};

ROWLOCK_END_NAMESPACE
