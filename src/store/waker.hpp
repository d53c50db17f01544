// Waiting on file descriptors, and ending such a wait from another thread.
#pragma once

#include "model/for_stores.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <span>
#include <string_view>
#include <utility>

namespace rowlock::store {

// A file descriptor that is closed with its owner. -1: none.
class owned_fd {
 public:
  explicit owned_fd(int fd = -1) noexcept : fd_{fd} {}
  ~owned_fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  owned_fd(owned_fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

// Takes the result of a system call that was to make `what`. Throws error(unreachable) if the call has
// failed, because then the process, or the machine, has no descriptor left, and others may be closed before
// the next attempt to connect.
ROWLOCK_FOR_STORES owned_fd made_fd(int fd, std::string_view what);

// An eventfd. end_wait() may be called by any thread.
class waker {
 public:
  // Throws as made_fd().
  ROWLOCK_FOR_STORES waker();

  ROWLOCK_FOR_STORES void end_wait() noexcept;
  // For poll_until(): readable after end_wait(), until clear().
  pollfd source() const noexcept { return {fd_.get(), POLLIN, 0}; }
  ROWLOCK_FOR_STORES void clear() noexcept;

 private:
  owned_fd fd_;
};

// Waits until one of the sources is ready; a source without a file descriptor (-1) never is. Returns false if
// the deadline has passed. A signal does not end the wait. Throws error(internal) when poll() refuses a
// source.
ROWLOCK_FOR_STORES bool poll_until(std::span<pollfd> sources, std::chrono::steady_clock::time_point deadline);

}  // namespace rowlock::store
