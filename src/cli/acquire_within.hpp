// Waits for a lock: without a limit, for a while, or not at all. A signal ends the wait.
#pragma once

#include "cli/signal_queue.hpp"

#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <functional>
#include <optional>

namespace rowlock::cli {

struct acquired {
  rowlock::hold hold;  // empty: busy, or a signal ended the wait
  int signal = 0;      // 0: none
};

// How long to wait. Empty: without a limit; zero: not at all.
using wait_limit = std::optional<std::chrono::milliseconds>;

// Acquires something within that time; empty: busy.
using request = std::function<hold(const wait_limit& wait, const acquire_options& how)>;

// Sets the stop token of how. Throws what the request throws.
acquired acquire_within(const request& ask, const wait_limit& wait, acquire_options how,
                        signal_queue& signals);

}  // namespace rowlock::cli
