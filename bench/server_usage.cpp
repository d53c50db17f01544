#include "bench/server_usage.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rowlock::bench {

namespace {

struct process_times {
  pid_t parent = 0;
  std::int64_t own_ticks = 0;          // of all threads
  std::int64_t ended_child_ticks = 0;  // of the children that it has waited for
};

// Empty if the process is gone.
std::optional<process_times> times_of(pid_t process) {
  std::ifstream file{fmt::format("/proc/{}/stat", process)};
  std::string line;
  std::getline(file, line);
  // The name, which comes before, is in parentheses and may contain anything.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields{line.substr(name_end + 1)};
  std::string ignored;
  process_times times;
  fields >> ignored >> times.parent;
  for (int field = 5; field < 14; ++field) fields >> ignored;
  std::int64_t user = 0, system = 0, ended_user = 0, ended_system = 0;
  fields >> user >> system >> ended_user >> ended_system;
  if (!fields) return {};
  times.own_ticks = user + system;
  times.ended_child_ticks = ended_user + ended_system;
  return times;
}

// The name of a process's program, of at most 15 bytes; "" if /proc does not show the process.
std::string program_of(pid_t process) {
  std::ifstream file{fmt::format("/proc/{}/comm", process)};
  std::string name;
  std::getline(file, name);
  return name;
}

std::optional<pid_t> pid_in(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size()) return {};
  return pid;
}

}  // namespace

std::optional<std::chrono::nanoseconds> server_usage::cpu_time() const {
  if (!process_) return {};
  const auto server = times_of(*process_);
  if (!server) return {};
  std::int64_t ticks = server->own_ticks + server->ended_child_ticks;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc", unreadable}) {
    const auto pid = pid_in(entry.path().filename().string());
    if (!pid) continue;
    const auto child = times_of(*pid);
    if (child && child->parent == *process_) ticks += child->own_ticks + child->ended_child_ticks;
  }
  return std::chrono::nanoseconds{ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK))};
}

std::optional<pid_t> parent_of_same_program(pid_t process) {
  const auto times = times_of(process);
  if (!times || program_of(process) != program_of(times->parent)) return {};
  return times->parent;
}

std::string command_line_of(pid_t process) {
  std::ifstream file{fmt::format("/proc/{}/cmdline", process), std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace rowlock::bench
