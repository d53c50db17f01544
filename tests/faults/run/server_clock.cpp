#include "server_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace rowlock::test {

server_clock::server_clock(const std::string& file) : file_{file} {
  const int opened = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (opened < 0) throw std::runtime_error("cannot make " + file);
  void* mapped = MAP_FAILED;
  if (::ftruncate(opened, sizeof *ahead_) == 0) {
    mapped = ::mmap(nullptr, sizeof *ahead_, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  }
  ::close(opened);
  if (mapped == MAP_FAILED) throw std::runtime_error("cannot map " + file);
  ahead_ = static_cast<std::atomic<std::int64_t>*>(mapped);
}

server_clock::~server_clock() {
  ::munmap(ahead_, sizeof *ahead_);
}

server_clock::preload::preload(const server_clock& clock) {
  ::setenv("LD_PRELOAD", ROWLOCK_PRELOADED_CLOCK_PATH, 1);
  ::setenv("ROWLOCK_SERVER_CLOCK", clock.file_.c_str(), 1);
}

server_clock::preload::~preload() {
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("ROWLOCK_SERVER_CLOCK");
}

}  // namespace rowlock::test
