#include "balancer.hpp"

#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace rowlock::test {

namespace {

// The position and the length of the port in a URL.
std::pair<std::size_t, std::size_t> place_of_port(const std::string& url) {
  const auto from = url.find(':', url.find('@')) + 1;
  return {from, url.find('/', from) - from};
}

bool send_all(int to, const char* data, ssize_t size) {
  while (size > 0) {
    const auto sent = ::send(to, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= sent;
  }
  return true;
}

}  // namespace

std::string balancer::port_of(const std::string& url) {
  const auto [from, length] = place_of_port(url);
  return url.substr(from, length);
}

std::string balancer::instead_of_the_node_in(std::string url) const {
  const auto [from, length] = place_of_port(url);
  return url.replace(from, length, std::to_string(port_));
}

balancer::balancer(const std::vector<std::string>& urls) {
  for (const auto& url : urls) ports_.push_back(std::stoi(port_of(url)));
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback();
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, place, size) != 0 || ::listen(listener_, 16) != 0 || ::pipe(end_) != 0) {
    throw std::runtime_error("the balancer cannot listen");
  }
  ::getsockname(listener_, place, &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread{[this] { accept_connections(); }};
}

balancer::~balancer() {
  ::close(end_[1]);
  acceptor_.join();
  connections_.clear();
  ::close(end_[0]);
  ::close(listener_);
}

void balancer::accept_connections() {
  for (std::size_t next = 0;; ++next) {
    pollfd either[] = {{listener_, POLLIN, 0}, {end_[0], POLLIN, 0}};
    ::poll(either, 2, -1);
    if (either[1].revents != 0) return;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = loopback(static_cast<std::uint16_t>(ports_[next % ports_.size()]));
    std::ignore = ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    connections_.emplace_back([this, client, server] { pass_on(client, server); });
  }
}

void balancer::pass_on(int client, int server) const {
  pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {end_[0], POLLIN, 0}};
  char data[4096];
  for (bool open = true; open;) {
    ::poll(ends, 3, -1);
    if (ends[2].revents != 0) break;
    for (int from = 0; from < 2 && open; ++from) {
      if (ends[from].revents == 0) continue;
      const auto size = ::read(ends[from].fd, data, sizeof data);
      open = size > 0 && send_all(ends[1 - from].fd, data, size);
    }
  }
  ::close(client);
  ::close(server);
}

}  // namespace rowlock::test
