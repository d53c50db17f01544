// Lines on stderr that never delay or end this process, whatever stderr is: a full pipe, a stopped terminal, a
// full disk, a pipe whose reader has gone.
#pragma once

#include <chrono>
#include <string>

namespace rowlock::cli {

// Returns at once; a thread writes the lines in order. If no thread can be started, this writes the line itself, and
// waits for a moment at most. Lines that cannot be written are dropped. For any thread.
void put_stderr_line(std::string line);

// Waits until all lines are written, but no longer than the limit.
void wait_for_stderr(std::chrono::milliseconds limit);

}  // namespace rowlock::cli
