// The address at which the server listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowlock::serve {

struct listen_address {
  std::string address;     // an IP address: "127.0.0.1", "::1"
  std::uint16_t port = 0;  // 0: any free port
  bool is_loopback = false;

  std::string text() const;  // "127.0.0.1:8600", "[::1]:8600"
};

// Whether only this machine can reach the IP address. False for what is none.
bool is_loopback(const std::string& address);

// Reads "ADDRESS:PORT", with an IPv6 address in brackets; localhost is 127.0.0.1. Throws error(invalid_argument).
listen_address parse_listen_address(std::string_view text);

// The host of a Host header, without its port and brackets, in lower case: "[::1]:8600" is "::1".
std::string host_name(std::string_view header);

}  // namespace rowlock::serve
