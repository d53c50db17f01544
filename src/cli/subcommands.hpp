// The subcommands. Each function adds one to the program; the names of the source files say which ones they contain.
#pragma once

#include "cli/command_line.hpp"

namespace rowlock::cli {

void add_run(command_line& program);
void add_elect(command_line& program);
void add_acquire(command_line& program);
void add_renew(command_line& program);
void add_guard(command_line& program);
void add_list(command_line& program);
void add_watch(command_line& program);
void add_show(command_line& program);
void add_queue(command_line& program);
void add_history(command_line& program);
void add_release(command_line& program);
void add_sweep(command_line& program);
void add_gc(command_line& program);
void add_epoch(command_line& program);
void add_doctor(command_line& program);
void add_migrate(command_line& program);
void add_serve(command_line& program);  // only in a build with ROWLOCK_SERVE

}  // namespace rowlock::cli
