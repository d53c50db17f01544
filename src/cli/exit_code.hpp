// The command's exit codes, in one place. docs/rowlock.1 and docs/guide.md, "Exit codes", say the same.
#pragma once

#include <rowlock/error.hpp>

namespace rowlock::cli {

enum exit_code : int {
  success = 0,
  not_found = 1,         // no such name
  found_errors = 1,      // of doctor
  usage = 64,            // an argument, option, name or URL that cannot be right
  unavailable = 69,      // no connection, no writable database, or a database that is too busy
  software = 70,         // a bug of rowlock, an unexpected answer of the database, or no way to write stdout
  not_ended = 71,        // the command could not be ended, because it runs as another user
  busy = 75,             // somebody else holds the lock, or the time is over; -E replaces this code
  hold_lost = 76,        // the hold was lost while the command ran
  no_permission = 77,    // wrong user or password, or a missing privilege
  wrong_schema = 78,     // the schema is not migrated, too new, or different from its ledger
  timed_out = 124,       // as timeout(1): the command was ended by --at-most
  not_executable = 126,  // as the shell: the command was found, but cannot be executed
  no_command = 127,      // as the shell: the command was not found
  by_signal = 128,       // as the shell: plus the signal's number
};

// The exit code for an error of the library.
constexpr int exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
    case errc::mismatch: return usage;
    case errc::unreachable:
    case errc::read_only:
    case errc::contention: return unavailable;
    case errc::authentication:
    case errc::privilege: return no_permission;
    case errc::not_migrated:
    case errc::too_new:
    case errc::schema: return wrong_schema;
    case errc::cancelled:
    case errc::broken_barrier: return busy;
    case errc::hold_lost: return hold_lost;
    case errc::deadlock:
    case errc::closed:
    case errc::forked:
    case errc::database:
    case errc::internal: return software;
  }
  return software;
}

}  // namespace rowlock::cli
