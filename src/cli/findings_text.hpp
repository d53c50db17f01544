// The findings of the doctor as a text for people.
#pragma once

#include <rowlock/doctor.hpp>

#include <string>
#include <vector>

namespace rowlock::cli {

// A block for each finding, and a line that counts them. Checks that could not be made share one block: they usually
// lack the same right.
std::string findings_text(const std::vector<finding>& findings);

}  // namespace rowlock::cli
