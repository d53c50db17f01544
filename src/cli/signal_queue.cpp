#include "cli/signal_queue.hpp"

#include <rowlock/error.hpp>

#include <sys/signalfd.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

// As nohup and a script's "command &" do. The kernel queues such a signal once it is blocked.
bool is_ignored(int number) {
  struct sigaction current {};
  return sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace

signal_queue::signal_queue() {
  sigset_t mine;
  sigemptyset(&mine);
  // An inherited SIG_IGN would let the kernel reap the child, and its exit code with it.
  std::signal(SIGCHLD, SIG_DFL);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) {
    if (!is_ignored(number)) sigaddset(&mine, number);
  }
  pthread_sigmask(SIG_BLOCK, &mine, &before_);
  descriptor_ = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0)
    throw error(errc::unreachable, "cannot open a signalfd; the limit of open files may be reached");
}

signal_queue::~signal_queue() {
  close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> signal_queue::take() {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof info) != sizeof info) return {};
  return static_cast<int>(info.ssi_signo);
}

}  // namespace rowlock::cli
