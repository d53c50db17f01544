// The receipts of `rowlock acquire`: what hold::transfer returns.
#pragma once

#include "cli/context.hpp"

#include <string>

namespace rowlock::cli {

// The word of the command line, or, if it is "-", the contents of standard input. Other users of the machine
// can read a command line.
std::string receipt_of(const std::string& word);

// Reports on stderr that the hold of a receipt is over. Returns the exit code.
int tell_of_loss(const context& global);

}  // namespace rowlock::cli
