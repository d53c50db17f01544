// A running child and the hold that covers it.
#pragma once

#include "cli/child.hpp"
#include "cli/signal_queue.hpp"

#include <rowlock/hold.hpp>

#include <chrono>
#include <functional>
#include <string_view>

namespace rowlock::cli {

struct watch_settings {
  std::chrono::milliseconds kill_after{0};
  bool yields =
      false;  // SIGTERM when somebody asks for the lock; what the command does then is its own affair
};

// Waits until the child has ended, passing signals on to its group. True when it was ended, or the hold lost,
// by then. What is sent because of the hold goes to the whole group, and those of it that are left when the
// child has ended are waited for as well.
//
// A hold that is not renewed: SIGTERM once remaining() is down to kill_after. A hold that was taken away:
// SIGTERM at once. SIGKILL kill_after later in both cases, but at the local deadline at the latest, which
// lies before the database lets anyone else in. note is told of each.
bool watch(child& command, const hold& held, signal_queue& signals, const watch_settings& how,
           const std::function<void(std::string_view)>& note);

}  // namespace rowlock::cli
