// The descriptors that another process has open.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include <sys/types.h>

namespace rowlock::test {

// The open descriptors by number, without the three standard ones: what each refers to, such as "socket:[4711]".
inline std::map<int, std::string> descriptors_of(pid_t pid) {
  std::map<int, std::string> result;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/" + std::to_string(pid) + "/fd"}) {
    const int number = std::stoi(each.path().filename().string());
    std::error_code closed;
    const auto target = std::filesystem::read_symlink(each.path(), closed);
    if (number > 2 && !closed) result[number] = target.string();
  }
  return result;
}

}  // namespace rowlock::test
