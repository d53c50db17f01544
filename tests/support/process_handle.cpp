#include "support/process_handle.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace rowlock::test {

process_handle::process_handle(pid_t pid)
    : pid_{pid}, descriptor_{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))} {}

process_handle::~process_handle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

process_handle::process_handle(process_handle&& other) noexcept {
  *this = std::move(other);
}

process_handle& process_handle::operator=(process_handle&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool process_handle::runs() const {
  pollfd ended{descriptor_, POLLIN, 0};
  return descriptor_ >= 0 && ::poll(&ended, 1, 0) == 0;
}

void process_handle::wait() const {
  pollfd ended{descriptor_, POLLIN, 0};
  if (descriptor_ >= 0 && ::poll(&ended, 1, 10'000) == 0)
    throw std::runtime_error("the process does not end");
}

bool process_handle::signal(int number) const {
  return descriptor_ >= 0 && ::syscall(SYS_pidfd_send_signal, descriptor_, number, nullptr, 0) == 0;
}

}  // namespace rowlock::test
