// What a command says and returns when it has failed.
#pragma once

#include "cli/context.hpp"

namespace rowlock::cli {

// Prints the exception that is being handled, and returns its exit code. Requires: a catch block calls it.
int report_failure(const context& global);

}  // namespace rowlock::cli
