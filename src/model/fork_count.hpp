// Tells a process from those that it was forked from, without a system call.
#pragma once

#include <rowlock/config.hpp>

#include <cstdint>

namespace rowlock::model {

// A number that is the same whenever the process asks, and that differs in a forked child from those of all ancestors
// that asked before the fork. Waits for no mutex, so a child may call it at once. Thread-safe.
std::uint64_t fork_count() noexcept;

}  // namespace rowlock::model
