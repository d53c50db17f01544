// Which descriptors the command gets that `rowlock run` starts: those that the caller has opened for it, as in
// `rowlock run NAME -- COMMAND 7<file`, and none of this process.
#pragma once

namespace rowlock::cli {

// Notes which descriptors are open. Requires: no other thread runs, and this process has opened none for itself yet.
void remember_inherited_descriptors();

// Makes exec() close every descriptor that was not remembered. Each is opened so that exec() closes it, except the one
// of a connection to MySQL or MariaDB, which a thread may be making right now. Does nothing if none was remembered.
// For between fork and exec: it calls only what a signal handler may call.
void close_own_descriptors_on_exec() noexcept;

}  // namespace rowlock::cli
