// A pipe that nobody reads, and processes that write to such a thing.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rowlock::test {

// It has room for no byte.
class full_pipe {
 public:
  full_pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    ::fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::string some(4096, ' ');
    while (::write(ends_[1], some.data(), some.size()) > 0) {
    }
    ::fcntl(ends_[1], F_SETFL, 0);
  }
  ~full_pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  full_pipe(const full_pipe&) = delete;
  full_pipe& operator=(const full_pipe&) = delete;

  // A shell can redirect to it.
  std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(ends_[1]);
  }

 private:
  int ends_[2];
};

// Whether a thread of the process is writing to its standard output, which it is for long only if nobody reads that.
inline bool is_in_write(pid_t process) {
  for (const auto& each : std::filesystem::directory_iterator{"/proc/" + std::to_string(process) + "/task"}) {
    std::string call;
    std::string descriptor;
    std::ifstream{each.path() / "syscall"} >> call >> descriptor;
    if (call == std::to_string(SYS_write) && descriptor == "0x1") return true;
  }
  return false;
}

}  // namespace rowlock::test
