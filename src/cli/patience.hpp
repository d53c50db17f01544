// Waiting for a lock on a command line: for ever, for a while, or not at all; a signal ends it.
#pragma once

#include "cli/signal_queue.hpp"

#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <functional>
#include <optional>

namespace rowlock::cli {

struct acquired {
  std::optional<rowlock::hold> hold;  // empty: busy, or a signal came
  int signal = 0;                     // that ended the wait
};

// wait: empty: for ever; zero: not at all.
using patience = std::optional<std::chrono::milliseconds>;

// Asks for whatever is wanted, with that patience; empty: busy.
using request = std::function<std::optional<hold>(const patience& wait, const acquire_options& how)>;

// how: but for its stop token. Throws what the request throws.
acquired acquire_within(const request& ask, const patience& wait, acquire_options how, signal_queue& signals);

}  // namespace rowlock::cli
