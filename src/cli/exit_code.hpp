// The command's exit codes, in one place. docs/rowlock.1 and README say the same.
#pragma once

#include <rowlock/error.hpp>

namespace rowlock::cli {

enum exit_code : int {
  success = 0,
  not_found = 1,         // no such name
  usage = 64,            // a word, option, name or URL that cannot be right
  unavailable = 69,      // no connection, no writable database, or one that is too busy to answer
  software = 70,         // a fault of rowlock, or the database said something unexpected
  busy = 75,             // somebody else holds it, or the time ran out; -E replaces it
  hold_lost = 76,        // the hold was lost while the command ran
  no_permission = 77,    // the user, the password or a privilege
  wrong_schema = 78,     // not migrated, too new, or a ledger that does not fit
  not_executable = 126,  // as the shell: found, but cannot be executed
  no_command = 127,      // as the shell: not found
  by_signal = 128,       // as the shell: plus the signal's number
};

// The one mapping from what the library throws.
int exit_code_of(errc code) noexcept;

}  // namespace rowlock::cli
