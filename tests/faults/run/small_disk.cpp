#include "small_disk.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace rowlock::test {

bool small_disk::can_be_made() {
  static const bool has_own_mounts =
      ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return has_own_mounts;
}

small_disk::small_disk(std::filesystem::path folder, const std::string& size) : folder_{std::move(folder)} {
  if (!can_be_made() || ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) != 0) {
    throw std::runtime_error("cannot mount a disk on " + folder_.string() + "; only root can");
  }
}

small_disk::~small_disk() {
  ::umount2(folder_.c_str(), MNT_DETACH);
}

void small_disk::fill() const {
  const int file = ::open((folder_ / "filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("cannot fill " + folder_.string());
  constexpr std::array<char, 4096> page{};
  while (::write(file, page.data(), page.size()) > 0) continue;
  ::close(file);
}

void small_disk::make_room() const {
  std::filesystem::remove(folder_ / "filler");
}

}  // namespace rowlock::test
