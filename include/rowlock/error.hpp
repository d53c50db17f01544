// What rowlock throws is a rowlock::error, except std::bad_alloc and where a header names another type. A busy lock is
// a value instead (an empty hold), and so is a loss that a release finds (release_result::lost).
//
//   } catch (const rowlock::error& failure) {
//     if (failure.code() == rowlock::errc::unreachable) …
//     switch (failure.kind()) { case rowlock::errc::deadlock: …
//   } catch (const std::system_error& failure) {            // also catches rowlock's errors
//     if (failure.code() == std::errc::resource_deadlock_would_occur) …
#pragma once

#include <rowlock/config.hpp>

#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

ROWLOCK_BEGIN_NAMESPACE

// The numbers are those of error::code(). They never change; 0 is no error.
enum class errc {
  invalid_argument = 1,  // an impossible argument (a name, a duration, an option, a URL); nothing was changed
  mismatch = 2,          // the stored lock has another kind, capacity or fairness than requested
  unreachable = 3,       // no connection, no answer in time, or no thread could be started
  authentication = 4,    // the user, the password or a certificate was refused
  privilege = 5,         // the user may not use the database, or not read or write rowlock's tables
  read_only = 6,         // the database is read-only, or a replica; or options::read_only is set
  not_migrated = 7,      // no such database, or rowlock's tables are missing or older than this library
  too_new = 8,           // the schema forbids libraries as old as this one (meta.min_library)
  cancelled = 9,         // a stop token stopped the call
  broken_barrier = 10,   // a member of the barrier's generation died or gave up; all may arrive again
  hold_lost = 11,        // the operation needs a hold, and there is none or it is over
  deadlock = 12,         // the caller would wait for itself, directly or through a circle of waiters
  closed = 13,           // the client was closed
  forked = 14,           // the client was made in the parent of this process
  contention = 15,  // a row (SQLite: the file) was locked too long, or conflicts went on; see also reclaim()
  schema = 16,      // a migration file, checksum or ledger that does not fit
  database = 17,    // any other error of the database
  internal = 18,    // a bug in rowlock
};

// The enumerator's name.
ROWLOCK_EXPORT const char* to_string(errc code) noexcept;

// Its name is "rowlock"; the message of a code is what the code means. invalid_argument, privilege, cancelled and
// deadlock are equivalent to std::errc's invalid_argument, permission_denied, operation_canceled and
// resource_deadlock_would_occur.
ROWLOCK_EXPORT const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

ROWLOCK_END_NAMESPACE

template <>
struct std::is_error_code_enum<rowlock::errc> : std::true_type {};

ROWLOCK_BEGIN_NAMESPACE

// Copying and moving it never throws. what() is the message alone, without the code's own one.
class ROWLOCK_EXPORT error : public std::system_error {
 public:
  // message: what was wrong, what was expected, what to do. It never contains a password. database_code: the SQLSTATE
  // or the driver's number; empty if the database reported none.
  error(errc code, const std::string& message, const std::string& database_code = {},
        bool outcome_unknown = false);
  error(const error&) noexcept = default;
  error& operator=(const error&) noexcept = default;
  ~error() override;

  const char* what() const noexcept override;

  // code(), for a switch. It is always one of rowlock's.
  errc kind() const noexcept { return static_cast<errc>(code().value()); }

  // Whether the same call may succeed later without any intervention. True for unreachable, read_only, broken_barrier
  // and contention, and for each error with outcome_unknown(). It is also true for the read_only of a client with
  // options::read_only, although that call never succeeds.
  bool transient() const noexcept;

  // The call may have taken effect, or may still do so: an answer was lost, or the request is still under way. rowlock
  // resolves this itself for acquire, renew and hold::release(). Other calls say what it means for them.
  bool outcome_unknown() const noexcept { return outcome_unknown_; }

  const std::string& database_code() const noexcept;

 private:
  struct texts;
  std::shared_ptr<const texts> texts_;  // shared by all copies
  bool outcome_unknown_;
};

ROWLOCK_END_NAMESPACE
