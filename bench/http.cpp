// Pairs of PUT and DELETE at a `rowlock serve` of the scenario's own, by clients that keep their connections.
#include "bench/contest.hpp"
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

class own_server {
 public:
  explicit own_server(const plan& plan) {
    const auto program = beside_this_program("rowlock").string();
    const auto made = output_of("'" + program + "' serve --new-token bench lock");
    token_ = labelled(made, "token:");
    char folder[] = "/tmp/rowlock-bench-http.XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("cannot make a folder in /tmp");
    folder_ = folder;
    const auto tokens = folder_ / "tokens";
    std::ofstream{tokens} << labelled(made, "line:") << '\n';
    std::filesystem::permissions(tokens, std::filesystem::perms::owner_read);
    try {
      start(program, plan, tokens.string());
    } catch (...) {
      end();
      throw;
    }
  }
  ~own_server() { end(); }
  own_server(const own_server&) = delete;
  own_server& operator=(const own_server&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& token() const { return token_; }

 private:
  void start(const std::string& program, const plan& plan, const std::string& tokens) {
    const auto log = (folder_ / "log").string();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ == 0) {
      ::setenv("ROWLOCK_URL", plan.url.c_str(), 1);
      ::setenv("ROWLOCK_PREFIX", plan.settings.prefix.c_str(), 1);
      ::setenv("ROWLOCK_SCHEMA", plan.settings.schema.c_str(), 1);
      if (std::freopen(log.c_str(), "w", stderr) == nullptr) ::_exit(127);
      ::execl(program.c_str(), "rowlock", "serve", "--listen", "127.0.0.1:0", "--rate", "0", "--tokens",
              tokens.c_str(), "--metrics-every", "0", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    for (;;) {
      std::ifstream file{log};
      const std::string said{std::istreambuf_iterator<char>{file}, {}};
      if (said.find("listening on http://127.0.0.1:") != said.npos && said.back() == '\n') {
        port_ = static_cast<std::uint16_t>(std::stoi(labelled(said, "listening on http://127.0.0.1:")));
        return;
      }
      if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("rowlock serve: " + said);
      std::this_thread::sleep_for(10ms);
    }
  }

  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      ::waitpid(pid_, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path folder_;
  std::string token_;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

// A connection that is kept, and a lock of its own.
class http_caller {
 public:
  http_caller(const own_server& server, int number)
      : path_{fmt::format("/v1/locks/bench%2Fhttp%2F{}/holds/0b4f3a5e-0000-4000-8000-", number)},
        header_{fmt::format(" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n"
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
      throw std::runtime_error("cannot connect to rowlock serve");
    }
  }
  ~http_caller() { ::close(socket_); }
  http_caller(const http_caller&) = delete;
  http_caller& operator=(const http_caller&) = delete;

  void pair() {
    const auto hold = fmt::format("{}{:012}", path_, ++holds_);
    ask("PUT " + hold, R"({"ttl_ms":30000})");
    ask("DELETE " + hold, "");
  }

 private:
  void ask(const std::string& what, const std::string& body) {
    const auto text = fmt::format("{}{}Content-Length: {}\r\n\r\n{}", what, header_, body.size(), body);
    if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
      throw std::runtime_error("rowlock serve has closed the connection");
    }
    while (unread_.find("\r\n\r\n") == unread_.npos) fill();
    const auto end = unread_.find("\r\n\r\n") + 4;
    const auto length = static_cast<std::size_t>(std::stoul(labelled(unread_, "Content-Length:")));
    while (unread_.size() < end + length) fill();
    if (!unread_.starts_with("HTTP/1.1 200")) throw std::runtime_error(what + ": " + unread_);
    unread_.erase(0, end + length);
  }
  void fill() {
    char part[4096];
    const auto got = ::recv(socket_, part, sizeof part, 0);
    if (got <= 0) throw std::runtime_error("no answer from rowlock serve");
    unread_.append(part, static_cast<std::size_t>(got));
  }

  const std::string path_;
  const std::string header_;
  int socket_;
  std::string unread_;
  std::uint64_t holds_ = 0;
};

result measure_http(const plan& plan, int count, floor_database& database, const own_server& server,
                    const rowlock::client& client, const own_locks& locks) {
  const auto slice = plan.slice.value_or(2s);
  std::vector<std::unique_ptr<http_caller>> callers;
  for (int i = 0; i < count; ++i) callers.push_back(std::make_unique<http_caller>(server, i));
  for_each_parallel(count, count, [&](int i) { callers[static_cast<std::size_t>(i)]->pair(); });
  pair_rates http{database, {}};
  pair_rates library{database, {client}};
  in_turn(
      plan.rounds,
      [&] { http.measure(count, slice, [&](int i) { callers[static_cast<std::size_t>(i)]->pair(); }); },
      [&] { library.measure(count, slice, [&](int i) { locks.pair(i); }); });
  auto one = compared(plan, "http", count, database, http, library);
  one.details["floor_is"] = "the library, with as many threads";
  return one;
}

}  // namespace

std::vector<result> http(const plan& plan) {
  const auto counts = plan.threads ? std::vector{*plan.threads} : std::vector{1, 64, 256};
  const auto database = open_floor(plan);
  const own_server server{plan};
  const auto client = rowlock::connect(plan.url, plan.settings);
  const own_locks locks{client, "http", counts.back()};
  std::vector<result> all;
  for (const auto count : counts) all.push_back(measure_http(plan, count, *database, server, client, locks));
  return all;
}

}  // namespace rowlock::bench
