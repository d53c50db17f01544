// The addresses to which servers and proxies of the tests are bound.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace rowlock::test {

// The address 127.0.0.1. With port 0 bind() chooses the port.
inline sockaddr_in loopback(std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port that is free now, as free_port in scripts/beside.sh chooses it.
inline std::uint16_t free_port() {
  const char* own = std::getenv("ROWLOCK_FIRST_PORT");
  const auto first = static_cast<std::uint16_t>(own ? std::atoi(own) : 10'000);
  const auto last = static_cast<std::uint16_t>(first + (own ? 599 : 19'999));
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto port = std::uniform_int_distribution<std::uint16_t>{first, last}(random);
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(port);
    const bool free = ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    if (free) return port;
  }
  throw std::runtime_error("there is no free port");
}

}  // namespace rowlock::test
