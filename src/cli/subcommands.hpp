// The subcommands, one file each. Each function adds one to the program.
#pragma once

#include "cli/command_line.hpp"

namespace rowlock::cli {

void add_run(command_syntax root);
void add_elect(command_syntax root);
void add_acquire(command_syntax root);
void add_renew(command_syntax root);
void add_list(command_syntax root);
void add_watch(command_syntax root);
void add_show(command_syntax root);
void add_queue(command_syntax root);
void add_history(command_syntax root);
void add_release(command_syntax root);
void add_sweep(command_syntax root);
void add_gc(command_syntax root);
void add_epoch(command_syntax root);
void add_doctor(command_syntax root);
void add_migrate(command_syntax root);

}  // namespace rowlock::cli
