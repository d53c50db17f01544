#include "bench/serve_process.hpp"

#include "bench/floor.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

std::filesystem::path beside_this_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char part[512];
  while (const auto got = std::fread(part, 1, sizeof part, pipe)) text.append(part, got);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return text;
}

// The rest of the line that begins with the label.
std::string labelled(const std::string& text, const std::string& label) {
  const auto at = text.find(label);
  if (at == std::string::npos) throw std::runtime_error("no " + label + " in " + text);
  const auto begin = text.find_first_not_of(' ', at + label.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string text_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

serve_process::serve_process(const plan& plan, const std::vector<std::string>& options) {
  const auto program = beside_this_program("rowlock").string();
  const auto made = output_of("'" + program + "' serve --new-token bench lock read");
  token_ = labelled(made, "token:");
  char folder[] = "/tmp/rowlock-bench-http.XXXXXX";
  if (mkdtemp(folder) == nullptr) throw std::runtime_error("cannot make a folder in /tmp");
  folder_ = folder;
  const auto tokens = folder_ / "tokens";
  std::ofstream{tokens} << labelled(made, "line:") << '\n';
  std::filesystem::permissions(tokens, std::filesystem::perms::owner_read);
  std::vector<std::string> words{program,  "serve", "--listen", "127.0.0.1:0",
                                 "--rate", "0",     "--tokens", tokens.string()};
  words.insert(words.end(), options.begin(), options.end());
  try {
    start(plan, words);
  } catch (...) {
    end();
    throw;
  }
}

serve_process::~serve_process() {
  end();
}

void serve_process::start(const plan& plan, const std::vector<std::string>& words) {
  const auto log = (folder_ / "log").string();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    ::setenv("ROWLOCK_URL", plan.url.c_str(), 1);
    ::setenv("ROWLOCK_PREFIX", plan.settings.prefix.c_str(), 1);
    ::setenv("ROWLOCK_SCHEMA", plan.settings.schema.c_str(), 1);
    if (std::freopen(log.c_str(), "w", stderr) == nullptr) ::_exit(127);
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  const auto give_up = std::chrono::steady_clock::now() + 30s;
  for (;;) {
    const auto said = text_of(log);
    if (said.find("listening on http://127.0.0.1:") != said.npos && said.back() == '\n') {
      port_ = static_cast<std::uint16_t>(std::stoi(labelled(said, "listening on http://127.0.0.1:")));
      return;
    }
    const bool has_ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    if (has_ended) pid_ = -1;
    if (has_ended || std::chrono::steady_clock::now() > give_up)
      throw std::runtime_error("rowlock serve: " + said);
    std::this_thread::sleep_for(10ms);
  }
}

void serve_process::end() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

long serve_process::status(const std::string& label) const {
  return std::stol(labelled(text_of(fmt::format("/proc/{}/status", pid_)), label));
}

http_connection::http_connection(const serve_process& server)
    : header_{fmt::format(" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n"
                          "Content-Type: application/json\r\n",
                          server.token())},
      socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int yes = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error("cannot connect to rowlock serve");
  }
}

http_connection::~http_connection() {
  ::close(socket_);
}

void http_connection::send(const std::string& what, const std::string& body) {
  const auto text = fmt::format("{}{}Content-Length: {}\r\n\r\n{}", what, header_, body.size(), body);
  if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("rowlock serve has closed the connection");
  }
}

std::string http_connection::read() {
  while (unread_.find("\r\n\r\n") == unread_.npos) fill();
  const auto begin = unread_.find("\r\n\r\n") + 4;
  const auto end = begin + static_cast<std::size_t>(std::stoul(labelled(unread_, "Content-Length:")));
  while (unread_.size() < end) fill();
  if (!unread_.starts_with("HTTP/1.1 200")) throw std::runtime_error("rowlock serve: " + unread_);
  auto body = unread_.substr(begin, end - begin);
  unread_.erase(0, end);
  return body;
}

void http_connection::fill() {
  char part[4096];
  const auto got = ::recv(socket_, part, sizeof part, 0);
  if (got <= 0) throw std::runtime_error("no answer from rowlock serve");
  unread_.append(part, static_cast<std::size_t>(got));
}

std::string next_hold(int number) {
  static std::atomic<std::uint64_t> made{0};
  return fmt::format("/v1/locks/bench%2Fhttp%2F{}/holds/0b4f3a5e-0000-4000-8000-{:012}", number, ++made);
}

}  // namespace rowlock::bench
