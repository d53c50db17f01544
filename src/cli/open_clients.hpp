// The clients that a command has opened. They outlive its action, so that it can say its answer first: a close may wait
// for a withdrawal that another transaction's row lock delays.
#pragma once

#include <rowlock/client.hpp>

#include <chrono>

namespace rowlock::cli {

// Returns the same client.
client close_at_the_end(client opened);

// Closes them, but waits no longer than the limit. What is left in the database then ends with the lease.
void close_clients(std::chrono::milliseconds limit);

}  // namespace rowlock::cli
