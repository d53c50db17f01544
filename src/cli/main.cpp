#include "cli/child.hpp"
#include "cli/signals.hpp"
#include "cli/sigpipe.hpp"
#include "cli/subcommands.hpp"

#include <cstdio>
#include <cstdlib>

#include <fcntl.h>

namespace {

// A connection to the database could get the number of a closed descriptor, and messages would be written into the
// connection. Standard output is opened so that writing to it still fails.
void open_closed_descriptors() {
  for (const int descriptor : {0, 1, 2}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int opened = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int count, char** words) {
  using namespace rowlock::cli;
  open_closed_descriptors();
  remember_inherited_descriptors();
  remember_arguments(count, words);
  remember_sigpipe();
  let_signals_end_process_1();
  command_line program{
      "rowlock", "Locks with leases, tokens and a fair queue in your SQL database.",
      "Help for one command: rowlock help COMMAND.\n"
      "Example:\n"
      "  export ROWLOCK_URL=postgresql://app@db/shop\n"
      "  rowlock migrate up\n"
      "  rowlock run billing/nightly --wait 30s -- ./bill-everyone\n"
      "Exit codes: 0 done, 1 no such name or doctor found errors, 64 usage, 69 unreachable or overloaded,\n"
      "  70 other errors, or output not written, 71 command not ended, 75 busy, 76 hold lost,\n"
      "  77 authentication or privilege, 78 schema not migrated or too new;\n"
      "  run and elect exit with the command's code, or with 124 after --at-most."};
  add_run(program);
  add_elect(program);
  add_acquire(program);
  add_renew(program);
  add_guard(program);
  add_list(program);
  add_watch(program);
  add_show(program);
  add_queue(program);
  add_history(program);
  add_release(program);
  add_sweep(program);
  add_gc(program);
  add_epoch(program);
  add_doctor(program);
  add_migrate(program);
#ifdef ROWLOCK_HAS_SERVE
  add_serve(program);
#endif
  program.root().require_subcommand(1);
  const int exit_code = program.run(count, words);
  // A thread that is still connecting to a silent server uses OpenSSL. exit() would clean up OpenSSL while it is
  // in use, and a crash would hide the exit code.
  std::fflush(nullptr);
  std::_Exit(exit_code);
}
