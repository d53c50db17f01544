// Steps that are bounded in time. A step that does not end names itself.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace rowlock::test {

using namespace std::chrono_literals;

// SIGINT, SIGTERM or SIGHUP has come.
class interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// From now on SIGINT, SIGTERM and SIGHUP end the current wait. A step that is not a wait ends the program with its name
// after this time; the processes that were started end with the program.
void end_on_signals(std::chrono::seconds longest_step);

// Names the step that follows, for the reader of a hang.
void begin_step(const std::string& what);

// Waits until is_so. Throws std::runtime_error with the text `what` after the limit, and interrupted.
void until(const std::string& what, const std::function<bool()>& is_so,
           std::chrono::milliseconds limit = 60s);

void pause(std::chrono::milliseconds time);

}  // namespace rowlock::test
