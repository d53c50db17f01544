// Starts a program as a user's shell does, with rowlock in its PATH.
#pragma once

#include "cli/command_process.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace rowlock::test {

inline std::unique_ptr<command_process> start_with_rowlock_in_path(
    const std::vector<std::string>& command, std::map<std::string, std::string> environment) {
  const auto folder = std::filesystem::path{ROWLOCK_COMMAND_PATH}.parent_path().string();
  environment["PATH"] = folder + ":" + std::getenv("PATH");
  return std::make_unique<command_process>(command, environment);
}

// Whether the program can be run here.
inline bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
}

}  // namespace rowlock::test
