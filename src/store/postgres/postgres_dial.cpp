#include "store/postgres/postgres_dial.hpp"

#include "store/postgres/owned_fd.hpp"
#include "store/postgres/postgres_error.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// One for each address of a host, so that one that answers nothing does not use up the others' time. Where
// that fails libpq finds out why.
std::vector<postgres_server> addresses_of(const postgres_server& server) {
  const bool is_name = !server.host.empty() && server.host[0] != '/' && server.host[0] != '@';
  if (!is_name || !server.address.empty()) return {server};
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(server.host.c_str(), nullptr, &wanted, &found) != 0) return {server};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
  std::vector<postgres_server> result;
  for (const auto* each = found; each; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
      return {server};
    result.push_back({server.host, text, server.port});
  }
  return result;
}

// What libpq said; empty: connected.
std::string finish(PGconn* connection, clock::time_point until, int breaker, const connect_watch& watch) {
  auto next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) return PQerrorMessage(connection);
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    // libpq may have taken another socket.
    pollfd fds[] = {{PQsocket(connection), events, 0}, {breaker, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    if (left <= 0ms) return "it did not answer in time";
    if (::poll(fds, std::size(fds), static_cast<int>(std::min<std::int64_t>(left.count(), 60'000))) < 0) {
      if (errno == EINTR) continue;
      return "poll() refused its socket";
    }
    if (watch.is_interrupted()) return "it did not answer in time";
    if (fds[0].revents != 0) next = PQconnectPoll(connection);
  }
  return {};
}

}  // namespace

raw_connection dial(const postgres_conninfo& conninfo, connect_watch& watch) {
  const auto until = clock::now() + conninfo.connect_timeout();
  const owned_fd breaker{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (breaker.get() < 0) throw error(errc::internal, "no file descriptor is left for connecting");
  const connect_watch::step step{watch, [fd = breaker.get()] {
                                   const std::uint64_t one = 1;
                                   [[maybe_unused]] const auto put = ::write(fd, &one, sizeof one);
                                 }};
  std::vector<postgres_server> addresses;
  for (const auto& server : conninfo.servers()) {
    for (auto& address : addresses_of(server)) addresses.push_back(std::move(address));
  }
  std::string said;
  for (std::size_t i = 0; i < addresses.size() && !watch.is_interrupted(); ++i) {
    const auto now = clock::now();
    const auto share = std::max<clock::duration>(until - now, 0ms) / (addresses.size() - i);
    raw_connection connection{PQconnectStart(conninfo.text(addresses[i]).c_str())};
    if (!connection) throw error(errc::internal, "libpq has no memory for a connection");
    auto refusal = PQstatus(connection.get()) == CONNECTION_BAD
                       ? PQerrorMessage(connection.get())
                       : finish(connection.get(), now + share, breaker.get(), watch);
    if (refusal.empty()) return connection;
    if (said.find(refusal) == std::string::npos) {
      if (!refusal.starts_with("connection to ")) refusal = addresses[i].host + ": " + refusal;
      said += (said.empty() ? "" : "; ") + refusal.substr(0, refusal.find_last_not_of('\n') + 1);
    }
    // Another server of the same URL would say the same.
    if (postgres_connect_error(refusal).code() == errc::authentication) break;
  }
  throw postgres_connect_error(conninfo.scrub(said));
}

}  // namespace rowlock::store
