// SIGPIPE, which libmariadb makes the whole process ignore.
#pragma once

namespace rowlock::cli {

// Remembers what the caller of this process has told it to do at SIGPIPE. Requires: libmariadb is not in use yet.
void remember_sigpipe() noexcept;
// Makes SIGPIPE do that again, if it was remembered. Calls only what a signal handler may call.
void restore_sigpipe() noexcept;

}  // namespace rowlock::cli
