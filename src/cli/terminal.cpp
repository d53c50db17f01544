#include "cli/terminal.hpp"

#include <csignal>
#include <string>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rowlock::cli {

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::string::npos;
  return size.ws_col;
}

terminal::terminal() : descriptor_{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {}

terminal::~terminal() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool terminal::is_ours() const noexcept {
  return descriptor_ >= 0 && tcgetpgrp(descriptor_) == getpgrp();
}

bool terminal::is_used() const noexcept {
  return is_ours() && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

void terminal::give_to(pid_t group) const noexcept {
  if (descriptor_ < 0) return;
  // SIGTTOU would stop a background group that does this.
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  sigprocmask(SIG_BLOCK, &stop, &before);
  tcsetpgrp(descriptor_, group);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool terminal::take_back_from(pid_t group) const noexcept {
  if (descriptor_ < 0 || tcgetpgrp(descriptor_) != group) return false;
  give_to(getpgrp());
  return true;
}

}  // namespace rowlock::cli
