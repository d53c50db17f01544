#include "client/base/process_identity.hpp"

#include "model/names.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rowlock::client_layer {

namespace {

// Limited, because on some databases each renewal writes the whole row of a lease.
constexpr std::size_t bytes_at_most = 255;

std::string shown(std::string_view text) {
  return model::printable(model::printable(text).substr(0, bytes_at_most));
}

std::string program_name() {
  std::string name;
  std::getline(std::ifstream{"/proc/self/comm"}, name);
  name = model::printable(name);
  return name.empty() ? "rowlock" : name;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? model::printable(name) : "unknown";
}

// Not getpwuid: it may ask a directory server, which may not answer.
std::string user_name() {
  std::ifstream file{"/etc/passwd"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto name = user_in(text, ::geteuid());
  return name.empty() ? std::to_string(::geteuid()) : name;
}

}  // namespace

std::string user_in(std::string_view passwd, std::uint64_t uid) {
  while (!passwd.empty()) {
    const auto line = passwd.substr(0, passwd.find('\n'));
    passwd.remove_prefix(std::min(line.size() + 1, passwd.size()));
    const auto name = line.substr(0, line.find(':'));  // name:password:uid:…
    const auto secret = line.find(':', std::min(name.size() + 1, line.size()));
    if (secret == std::string_view::npos) continue;
    const auto number = line.substr(secret + 1, line.find(':', secret + 1) - secret - 1);
    std::uint64_t found = 0;
    const auto* const end = number.data() + number.size();
    const auto parsed = std::from_chars(number.data(), end, found);
    if (parsed.ec == std::errc{} && parsed.ptr == end && found == uid) return shown(name);
  }
  return {};
}

std::string birth_of(std::int64_t pid) {
  std::string boot;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, boot);
  std::string stat;
  std::getline(std::ifstream{fmt::format("/proc/{}/stat", pid)}, stat);
  // pid (name) state …: the name may contain anything, also parentheses. starttime is the 22nd field, see proc(5).
  const auto name_ends = stat.rfind(')');
  if (boot.empty() || name_ends == std::string::npos) return {};
  std::istringstream fields{stat.substr(name_ends + 1)};
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return fields ? fmt::format("{}.{}", boot, field) : "";
}

process_identity process_identity::of_this_process(const std::string& application,
                                                   const std::string& command) {
  const auto program = shown(command);
  return {host_name(), ::getpid(), application.empty() ? program_name() : application, user_name(),
          program.empty() ? shown(program_invocation_short_name) : program};
}

}  // namespace rowlock::client_layer
