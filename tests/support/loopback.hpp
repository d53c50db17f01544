// The addresses to which servers and proxies of the tests are bound.
#pragma once

#include <netinet/in.h>
#include <cstdint>

namespace rowlock::test {

// The address 127.0.0.1. With port 0 bind() chooses the port.
inline sockaddr_in loopback(std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace rowlock::test
