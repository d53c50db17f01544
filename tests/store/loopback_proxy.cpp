#include "store/loopback_proxy.hpp"

#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

namespace rowlock::test {

namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string{"the proxy: "} + what);
  return result;
}

// Returns false at the end of the stream.
bool carry_some(int from, int to) {
  char buffer[4096];
  const auto got = ::recv(from, buffer, sizeof buffer, 0);
  return got > 0 && ::send(to, buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
}

const std::regex place_in_url{"@127\\.0\\.0\\.1:([0-9]+)"};

std::uint16_t port_in(const std::string& url) {
  std::smatch found;
  if (!std::regex_search(url, found, place_in_url))
    throw std::runtime_error("the proxy: the URL has no place: " + url);
  return static_cast<std::uint16_t>(std::stoi(found[1]));
}

}  // namespace

loopback_proxy::descriptor::~descriptor() {
  if (number >= 0) ::close(number);
}

loopback_proxy::loopback_proxy(const std::string& url) : server_port_{port_in(url)}, url_{url} {
  listener_.number = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  stop_.number = checked(::eventfd(0, EFD_CLOEXEC), "eventfd");
  // This comes before listen(), so that the connection never has a larger buffer.
  const int small = 4096;
  checked(::setsockopt(listener_.number, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), "SO_RCVBUF");
  auto address = loopback();
  socklen_t size = sizeof address;
  checked(::bind(listener_.number, reinterpret_cast<sockaddr*>(&address), size), "bind");
  checked(::listen(listener_.number, 1), "listen");
  checked(::getsockname(listener_.number, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port_ = ntohs(address.sin_port);
  carrier_ = std::jthread{[this] { carry(); }};
}

loopback_proxy::~loopback_proxy() {
  if (carrier_.joinable()) stall();
}

std::string loopback_proxy::url() const {
  return std::regex_replace(url_, place_in_url, "@127.0.0.1:" + std::to_string(port_));
}

void loopback_proxy::carry() {
  bool answered = true;
  pollfd ends[] = {{stop_.number, POLLIN, 0}, {listener_.number, POLLIN, 0}, {-1, POLLIN, 0}};
  while (::poll(ends, 3, -1) >= 0 && ends[0].revents == 0) {
    if (client_.number < 0) {
      const auto address = loopback(server_port_);
      client_.number = ::accept4(listener_.number, nullptr, nullptr, SOCK_CLOEXEC);
      server_.number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (::connect(server_.number, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
      ends[1].fd = client_.number;
      ends[2].fd = server_.number;
      continue;
    }
    if (ends[1].revents != 0) {
      // Counted before the server can see it, so that the count is right once the client has the answer.
      if (std::exchange(answered, false)) ++round_trips_;
      if (!carry_some(client_.number, server_.number)) return;
    }
    if (ends[2].revents != 0) {
      answered = true;
      if (!carry_some(server_.number, client_.number)) return;
    }
  }
}

void loopback_proxy::stall() {
  const std::uint64_t one = 1;
  checked(static_cast<int>(::write(stop_.number, &one, sizeof one)), "write");
  carrier_.join();
}

void loopback_proxy::await_bytes() const {
  pollfd client{client_.number, POLLIN, 0};
  checked(::poll(&client, 1, 30'000) == 1 ? 0 : -1, "nothing came");
}

int loopback_proxy::drain() {
  char buffer[4096];
  for (;;) {
    const auto got = ::recv(client_.number, buffer, sizeof buffer, 0);
    if (got == 0) return 0;
    if (got < 0) return errno;
  }
}

}  // namespace rowlock::test
