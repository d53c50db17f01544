// What `rowlock doctor` does, as a function: looks for what would break rowlock's promises on this database.
#pragma once

#include <rowlock/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

enum class severity : std::uint8_t {
  note,     // good to know; nothing is in danger
  unknown,  // it could not be found out whether there is a problem
  warning,  // a promise depends on something else going well, or rowlock becomes slow
  error,    // a promise is broken here, or no lock can be used
};
ROWLOCK_EXPORT const char* to_string(severity level) noexcept;

struct finding {
  std::string code;  // short and stable, such as fsync-off; docs/operations.md lists all of them
  severity level = severity::note;
  std::string found;   // what was found, with the server's own name for the setting
  std::string why;     // what it means for rowlock's promises
  std::string remedy;  // a command, or a setting to change
};

// Looks at the server's settings, at rowlock's tables and at this user's rights, and returns what it found,
// the worst first. Empty: nothing. Changes nothing in the database, and needs no more than the rights of
// `observe` in docs/operations.md, "Rights"; what these rights do not show is `unknown`. A schema that
// was never migrated, a standby and an unsuitable server are findings. Opens up to two connections, on a Galera cluster
// up to four, and one more for each further server that the URL names; at most two of them are open at once. Of the
// settings only prefix, schema, application, listen_url and the timeouts are used. Throws error: invalid_argument,
// unreachable, authentication, privilege if the user may not use the database, not_migrated if the server has no such
// database, and database if the server refuses for another reason.
[[nodiscard]] ROWLOCK_EXPORT std::vector<finding> diagnose(const std::string& url,
                                                           const options& settings = {});

ROWLOCK_END_NAMESPACE
