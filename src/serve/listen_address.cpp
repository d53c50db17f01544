#include "serve/listen_address.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace rowlock::serve {

namespace {

struct host_and_port {
  std::string_view host;
  std::string_view port;
};

host_and_port split(std::string_view text) {
  const auto bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const auto colon = text.find(':', bracket == text.npos ? 0 : bracket);
  host_and_port parts{text.substr(0, colon), colon == text.npos ? "" : text.substr(colon + 1)};
  if (bracket != text.npos) parts.host = text.substr(1, bracket - 1);
  return parts;
}

bool is_address(const std::string& text) {
  in6_addr any{};
  return ::inet_pton(AF_INET, text.c_str(), &any) == 1 || ::inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

}  // namespace

bool is_loopback(const std::string& address) {
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  return ::inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

std::string listen_address::text() const {
  const bool is_six = address.find(':') != address.npos;
  return is_six ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

listen_address parse_listen_address(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    throw error(errc::invalid_argument,
                fmt::format("--listen '{}' {}; give an IP address and a port, such as 127.0.0.1:8600 or "
                            "[::1]:8600",
                            text, why));
  };
  const auto parts = split(text);
  listen_address found{.address = std::string{parts.host == "localhost" ? "127.0.0.1" : parts.host}};
  if (!is_address(found.address)) refuse("has no IP address");
  found.is_loopback = is_loopback(found.address);
  const auto* const end = parts.port.data() + parts.port.size();
  const auto [read, failure] = std::from_chars(parts.port.data(), end, found.port);
  if (parts.port.empty() || failure != std::errc{} || read != end) refuse("has no port from 0 to 65535");
  return found;
}

std::string host_name(std::string_view header) {
  return model::lower(split(header).host);
}

}  // namespace rowlock::serve
