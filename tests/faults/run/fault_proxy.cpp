#include "fault_proxy.hpp"

#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string_view>

namespace rowlock::test {

struct fault_proxy::link {
  int client = -1;
  int server = -1;
  std::atomic<bool> loses_reply{false};
  // Once bytes of a direction were dropped, no later bytes are passed on: TCP has no gaps.
  bool lost_up = false, lost_down = false;
  std::atomic<int> ended{0};  // directions
  std::jthread up, down;

  void shut(int how) const {
    ::shutdown(client, how);
    ::shutdown(server, how);
  }
  ~link() {
    shut(SHUT_RDWR);
    if (up.joinable()) up.join();
    if (down.joinable()) down.join();
    ::close(client);
    ::close(server);
  }
};

namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string{"the proxy: "} + what);
  return result;
}

// Returns -1 if nobody listens.
int connect_to(const std::string& server) {
  const bool is_path = server.starts_with('/');
  const int made = ::socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result = -1;
  if (is_path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, server.c_str(), sizeof address.sun_path - 1);
    result = ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    const auto address = loopback(static_cast<std::uint16_t>(std::stoi(server)));
    result = ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int yes = 1;
    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  if (result == 0) return made;
  ::close(made);
  return -1;
}

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// A seed could not repeat what depends on the bytes, so the choice need not be seeded either.
int any(int from, int to) {
  thread_local std::mt19937 random{std::random_device{}()};
  return std::uniform_int_distribution{from, to}(random);
}

}  // namespace

fault_proxy::fault_proxy(std::string server) : server_{std::move(server)} {
  listener_ = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  auto address = loopback();
  socklen_t size = sizeof address;
  checked(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), "bind");
  checked(::listen(listener_, 64), "listen");
  checked(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread{[this] { accept(); }};
}

fault_proxy::~fault_proxy() {
  is_ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  links_.clear();
}

void fault_proxy::accept() {
  while (!is_ending_) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    what_ == carrying::nobody ? void(::close(client)) : start(client);
  }
}

void fault_proxy::start(int client) {
  const int yes = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const int server = connect_to(server_);
  if (server < 0) {
    ::close(client);
    return;
  }
  auto made = std::make_unique<link>();
  made->client = client;
  made->server = server;
  auto& one = *made;
  const std::lock_guard lock{mutex_};
  std::erase_if(links_, [](const auto& other) { return other->ended == 2; });
  links_.push_back(std::move(made));
  one.up = std::jthread{[this, &one] { carry_up(one), end(one); }};
  one.down = std::jthread{[this, &one] { carry_down(one), end(one); }};
}

void fault_proxy::end(link& one) {
  // After a half-close the other direction may still carry something.
  if (++one.ended == 2) one.shut(SHUT_RDWR);
}

void fault_proxy::wait_if_late() const {
  if (what_ == carrying::late) std::this_thread::sleep_for(std::chrono::milliseconds{any(10, 80)});
}

void fault_proxy::carry_up(link& one) {
  char buffer[16'384];
  for (;;) {
    const auto got = ::recv(one.client, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    const std::string_view bytes{buffer, static_cast<std::size_t>(got)};
    wait_if_late();
    one.lost_up = one.lost_up || what_ == carrying::nothing_up;
    if (one.lost_up) continue;
    if (what_ == carrying::lose_a_reply &&
        (bytes.find("COMMIT") != std::string_view::npos || any(1, 6) == 1)) {
      one.loses_reply = true;
    }
    if (!send_all(one.server, bytes)) break;
  }
  ::shutdown(one.server, SHUT_WR);
}

void fault_proxy::carry_down(link& one) {
  char buffer[16'384];
  for (;;) {
    const auto got = ::recv(one.server, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    wait_if_late();
    one.lost_down = one.lost_down || what_ == carrying::nothing_down;
    if (one.lost_down) continue;
    if (one.loses_reply) {
      ++lost_replies_;
      one.shut(SHUT_RDWR);
      break;
    }
    if (!send_all(one.client, {buffer, static_cast<std::size_t>(got)})) break;
  }
  ::shutdown(one.client, SHUT_WR);
}

void fault_proxy::cut() {
  const std::lock_guard lock{mutex_};
  for (const auto& one : links_) one->shut(SHUT_RDWR);
}

void fault_proxy::half_close() {
  const std::lock_guard lock{mutex_};
  for (const auto& one : links_) ::shutdown(any(0, 1) == 0 ? one->client : one->server, SHUT_WR);
}

}  // namespace rowlock::test
