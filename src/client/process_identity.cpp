#include "client/process_identity.hpp"

#include "model/names.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

namespace rowlock::client_layer {

namespace {

// A renewal writes the whole row of a lease on some databases.
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

process_identity process_identity::of_this_process(const std::string& application,
                                                   const std::string& command) {
  const auto program = shown(command);
  return {host_name(), ::getpid(), application.empty() ? program_name() : application, user_name(),
          program.empty() ? shown(program_invocation_short_name) : program};
}

}  // namespace rowlock::client_layer
