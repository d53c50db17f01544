#include "store/postgres/postgres_dial.hpp"

#include "store/postgres/postgres_error.hpp"
#include "store/waker.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <vector>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// One server for each address of a host, so that an address that does not answer cannot use up the time of
// the others. If the look-up fails, libpq reports why.
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

void keep_warning(void* kept, const PGresult* notice) {
  const auto* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  const auto* said = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  if (severity && said && std::string_view{severity} == "WARNING") *static_cast<std::string*>(kept) = said;
}

// Completes the connection. Returns libpq's message if that fails, and an empty text once connected.
std::string finish(PGconn* connection, clock::time_point until, const waker& breaker,
                   const connect_watch& watch) {
  auto next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) return with_sqlstate_last(PQerrorMessage(connection));
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    // libpq may use another socket than before.
    pollfd sources[] = {{PQsocket(connection), events, 0}, breaker.source()};
    if (!poll_until(sources, until) || watch.is_interrupted()) return "it did not answer in time";
    next = PQconnectPoll(connection);
  }
  return {};
}

}  // namespace

raw_connection dial(const postgres_conninfo& conninfo, connect_watch& watch, std::string& warning) {
  const auto until = clock::now() + conninfo.connect_timeout();
  waker breaker;
  const connect_watch::step step{watch, [&] { breaker.end_wait(); }};
  std::vector<postgres_server> addresses;
  for (const auto& server : conninfo.servers()) {
    for (auto& address : addresses_of(server)) addresses.push_back(std::move(address));
  }
  conninfo.latest().put_first(addresses);
  std::string said;
  for (std::size_t i = 0; i < addresses.size() && !watch.is_interrupted(); ++i) {
    const auto now = clock::now();
    const auto share = std::max<clock::duration>(until - now, 0ms) / (addresses.size() - i);
    raw_connection connection{PQconnectStart(conninfo.text(addresses[i]).c_str())};
    if (!connection) throw error(errc::internal, "libpq has no memory for a connection");
    PQsetNoticeReceiver(connection.get(), &keep_warning, &warning);
    PQsetErrorVerbosity(connection.get(), PQERRORS_VERBOSE);  // see with_sqlstate_last
    auto refusal = PQstatus(connection.get()) == CONNECTION_BAD
                       ? PQerrorMessage(connection.get())
                       : finish(connection.get(), now + share, breaker, watch);
    if (refusal.empty()) {
      PQsetErrorVerbosity(connection.get(), PQERRORS_DEFAULT);
      conninfo.latest().note(addresses[i]);
      return connection;
    }
    if (said.find(refusal) == std::string::npos) {
      if (!refusal.starts_with("connection to ")) refusal = addresses[i].host + ": " + refusal;
      said += (said.empty() ? "" : "; ") + refusal.substr(0, refusal.find_last_not_of('\n') + 1);
    }
    // Another server of the same URL would refuse the login, too.
    if (postgres_connect_error(refusal).code() == errc::authentication) break;
  }
  throw postgres_connect_error(conninfo.scrub(said));
}

}  // namespace rowlock::store
