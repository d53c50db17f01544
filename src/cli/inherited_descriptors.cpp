#include "cli/inherited_descriptors.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

struct descriptor_range {
  unsigned first;
  unsigned last;
};

// What is between the inherited ones. A plain array, because it is read between fork and exec.
descriptor_range* own = nullptr;
std::size_t own_count = 0;

std::vector<unsigned> open_descriptors() {
  std::vector<unsigned> result;
  std::error_code unreadable;
  std::filesystem::directory_iterator each{"/proc/self/fd", unreadable};
  const std::filesystem::directory_iterator end;
  for (; !unreadable && each != end; each.increment(unreadable)) {
    result.push_back(static_cast<unsigned>(std::stoul(each->path().filename().string())));
  }
  each = end;
  // One of them was the folder's.
  std::erase_if(result, [](unsigned one) { return fcntl(static_cast<int>(one), F_GETFD) < 0; });
  std::ranges::sort(result);
  return result;
}

}  // namespace

void remember_inherited_descriptors() {
  const auto inherited = open_descriptors();
  if (inherited.empty()) return;  // there is no /proc
  static std::vector<descriptor_range> between;
  unsigned next = STDERR_FILENO + 1;
  for (const unsigned one : inherited) {
    if (one > next) between.push_back({next, one - 1});
    next = std::max(next, one + 1);
  }
  between.push_back({next, ~0U});
  own = between.data();
  own_count = between.size();
}

void close_own_descriptors_on_exec() noexcept {
  // A kernel before 5.11 does not know the flag.
  for (std::size_t i = 0; i < own_count; ++i) close_range(own[i].first, own[i].last, CLOSE_RANGE_CLOEXEC);
}

}  // namespace rowlock::cli
