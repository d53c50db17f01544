#include "cli/sigpipe.hpp"

#include <csignal>

namespace rowlock::cli {

namespace {

struct sigaction sigpipe_before {};
bool is_sigpipe_remembered = false;

}  // namespace

void remember_sigpipe() noexcept {
  is_sigpipe_remembered = sigaction(SIGPIPE, nullptr, &sigpipe_before) == 0;
}

void restore_sigpipe() noexcept {
  if (is_sigpipe_remembered) sigaction(SIGPIPE, &sigpipe_before, nullptr);
}

}  // namespace rowlock::cli
