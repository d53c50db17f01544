// A disk of some megabytes, which can be filled. Needs root.
#pragma once

#include <filesystem>
#include <string>

namespace rowlock::test {

class small_disk {
 public:
  // Whether this process may mount such a disk. The first call gives the process mounts of its own, so call it before
  // any other thread is started.
  static bool can_be_made();

  // Mounts the disk on an existing folder. size: as for mount, "8m". Throws std::runtime_error, like every member.
  small_disk(std::filesystem::path folder, const std::string& size);
  ~small_disk();
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  // Takes all the space that is left, and returns it.
  void fill() const;
  void make_room() const;

 private:
  const std::filesystem::path folder_;
};

}  // namespace rowlock::test
