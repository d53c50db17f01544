// Waiting for a lock on a command line: for ever, for a while, or not at all; a signal ends it.
#pragma once

#include "cli/signal_queue.hpp"

#include <rowlock/hold.hpp>
#include <rowlock/mutex.hpp>

#include <chrono>
#include <optional>

namespace rowlock::cli {

struct acquired {
  std::optional<rowlock::hold> hold;  // empty: busy, or a signal came
  int signal = 0;                     // that ended the wait
};

// wait: empty: for ever; zero: not at all. Throws as rowlock::mutex does.
acquired acquire_within(mutex& lock, std::optional<std::chrono::milliseconds> wait, signal_queue& signals);

}  // namespace rowlock::cli
