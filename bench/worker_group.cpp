#include "bench/worker_group.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>

namespace rowlock::bench {

namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  return ends;
}

// Reads one byte. False: the stream has ended.
bool read_byte(int file) {
  char byte = 0;
  ssize_t got = -1;
  do {
    got = read(file, &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

}  // namespace

void worker_channel::ready_and_wait() {
  if (write(ready_, "r", 1) != 1) throw std::system_error(errno, std::generic_category(), "write");
  close(ready_);
  read_byte(go_);  // returns also when the parent closes its end
}

worker_group::worker_group(int count, const std::function<void(int, worker_channel&)>& work) : count_{count} {
  auto ready = make_pipe();
  auto go = make_pipe();
  ready_ = ready[0];
  go_ = go[1];
  pid_t parent = getpid();
  for (int i = 0; i < count; ++i) {
    pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child > 0) {
      running_.push_back(child);
      continue;
    }
    // A killed bench must not leave behind processes that pass a lock around.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ready[0]);
    close(go[1]);
    int status = 0;
    try {
      worker_channel channel{ready[1], go[0]};
      work(i, channel);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "rowlock-bench: process %d: %s\n", i, failure.what());
      status = 1;
    }
    std::fflush(nullptr);
    _exit(status);
  }
  close(ready[1]);
  close(go[0]);
}

worker_group::~worker_group() {
  for (pid_t child : running_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(ready_);
  if (go_ >= 0) close(go_);
}

void worker_group::start() {
  for (int i = 0; i < count_; ++i) {
    if (!read_byte(ready_)) throw std::runtime_error("a process of the bench failed before it began");
  }
  close(go_);
  go_ = -1;
}

void worker_group::wait_while_running(std::chrono::milliseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  for (auto now = std::chrono::steady_clock::now(); now < end; now = std::chrono::steady_clock::now()) {
    siginfo_t ended{};
    waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) return;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    poll(nullptr, 0, static_cast<int>(std::min<std::int64_t>(left.count(), 100)));
  }
}

void worker_group::finish() {
  bool failed = false;
  while (!running_.empty()) {
    int status = 0;
    waitpid(running_.back(), &status, 0);
    failed = failed || status != 0;
    running_.pop_back();
  }
  if (failed) throw std::runtime_error("a process of the bench failed; its message stands above");
}

}  // namespace rowlock::bench
