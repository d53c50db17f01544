// A running child and the hold that covers it.
#pragma once

#include "cli/child.hpp"
#include "cli/signals.hpp"

#include <rowlock/hold.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace rowlock::cli {

struct watch_settings {
  std::chrono::milliseconds kill_after{0};
  std::optional<std::chrono::milliseconds> at_most{};  // end the command when this time has passed
  // Send SIGTERM when somebody requests the lock's release; the command decides what to do.
  bool yields = false;
};

struct watch_result {
  bool lost = false;       // the hold was lost before the child ended, or the child was ended because of that
  bool timed_out = false;  // the child was ended because at_most was over
  bool out_of_reach = false;  // a process of the group could not be ended, because it runs as another user
  int signal = 0;             // the latest of SIGINT, SIGTERM, SIGHUP and SIGQUIT that was forwarded
};

// Waits until the child has ended, and forwards signals to its group. When a forwarded SIGTSTP has stopped the child,
// this process stops, too (child::ended). Signals that this function sends because of the hold or of at_most go to the
// whole group; the function then also waits for the rest of the group.
//
// If the hold is not renewed, SIGTERM is sent when remaining() has fallen to kill_after. If the hold was taken away,
// or at_most has passed, SIGTERM is sent at once. In all cases SIGKILL follows kill_after later, at the latest at the
// local deadline, before the database grants the lock to another client. note receives a line for each.
//
// A process of another user may survive the SIGKILL. While the hold is valid, this function waits for the end of that
// process; otherwise it abandons the child.
watch_result watch(child& command, const hold& held, signal_queue& signals, const watch_settings& how,
                   const std::function<void(std::string_view)>& note);

}  // namespace rowlock::cli
