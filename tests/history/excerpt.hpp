// Excerpts of a history for people: the lines around a violation, and a picture.
#pragma once

#include "rules.hpp"

#include <iosfwd>

namespace rowlock::history {

// Prints what was violated, and the events of that name around those that prove the violation, which are marked with >.
void print(const violation& broken, const std::vector<event>& events, const lock_history& lock,
           std::ostream& to);

// Draws an SVG picture: a row for each actor and name, waits in grey, holds in green, and the events of a violation in
// red.
void draw(const std::vector<event>& events, const std::map<std::string, lock_history>& locks,
          const std::vector<violation>& found, std::ostream& to);

}  // namespace rowlock::history
