// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

namespace rowlock::store {

class owned_fd {
 public:
  explicit owned_fd(int fd) noexcept : fd_{fd} {}
  ~owned_fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  owned_fd(const owned_fd&) = delete;
  owned_fd& operator=(const owned_fd&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace rowlock::store
