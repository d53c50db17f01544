#include "serve/server.hpp"

#include <rowlock/error.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using boost::system::error_code;

// These threads alone parse requests and write answers; whatever waits for the database is on other threads.
constexpr int io_threads = 2;
// Connections beyond the limit that may get an answer which says so; more are closed without one.
constexpr std::size_t refused_at_once = 64;
// One client may have this many of the connections, or a quarter of all that the limit allows, if that is more.
constexpr std::size_t most_of_few = 64;

// Linux gives them to each accepted socket. A client whose machine vanishes says nothing, and would wait in a queue until
// it is granted the lock. The kernel asks after 15 seconds of silence, and gives it up after 30. While something that
// was sent is not acknowledged it does not ask, so the last option is for that time.
void set_options(tcp::acceptor& one) {
  one.set_option(tcp::acceptor::reuse_address{true});
  one.set_option(tcp::no_delay{true});
  one.set_option(boost::asio::socket_base::keep_alive{true});
  for (const auto& [name, value] :
       {std::pair{TCP_KEEPIDLE, 15}, {TCP_KEEPINTVL, 5}, {TCP_KEEPCNT, 3}, {TCP_USER_TIMEOUT, 30'000}}) {
    ::setsockopt(one.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
  }
}

// Each connection needs a descriptor, and the usual limit is 1024.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

server::server(const listen_address& at, connection_context& with)
    : acceptor_{boost::asio::make_strand(loop_)},
      pause_{acceptor_.get_executor()},
      with_{with},
      address_{at} {
  allow_many_descriptors();
  try {
    const tcp::endpoint endpoint{boost::asio::ip::make_address(at.address), at.port};
    acceptor_.open(endpoint.protocol());
    set_options(acceptor_);
    acceptor_.bind(endpoint);
    acceptor_.listen();
    address_.port = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& problem) {
    throw error(errc::unreachable,
                fmt::format("cannot listen on {}: {}; choose another address with --listen", at.text(),
                            problem.code().message()));
  }
}

void server::start() {
  boost::asio::post(acceptor_.get_executor(), [this] { accept(); });
  for (int i = 0; i < io_threads; ++i) threads_.emplace_back([this] { run(); });
}

server::~server() {
  stop();
}

// A lack of memory ends the request that met it, not the process.
void server::run() {
  for (;;) {
    try {
      loop_.run();
      return;
    } catch (const std::exception&) {
      continue;
    }
  }
}

void server::stop() {
  loop_.stop();
  for (auto& one : threads_) one.join();
  threads_.clear();
}

void server::accept() try {
  acceptor_.async_accept(boost::asio::make_strand(loop_), [this](error_code failed, tcp::socket client) {
    if (!acceptor_.is_open()) return;
    if (!failed) {
      try {
        serve(std::move(client));
      } catch (const std::exception&) {
        // A lack of memory ends this connection, and the next one is accepted all the same.
      }
      return accept();
    }
    // No descriptor is left, for example. To try again at once would use the processor for nothing.
    pause_.expires_after(100ms);
    pause_.async_wait([this](error_code) {
      if (acceptor_.is_open()) accept();
    });
  });
} catch (const std::exception&) {
  // There was not even the memory to wait for a client. Nothing else would call this function again.
  std::this_thread::sleep_for(100ms);
  if (!loop_.stopped()) accept();
}

void server::serve(tcp::socket client) {
  const auto most = with_.limits.connections;
  const auto most_of_one = std::min(most, std::max(most_of_few, most / 4));
  const auto open = with_.all.count();
  auto from = client_of(client);
  const auto own = with_.all.count_from(from);
  if (open >= most + refused_at_once || own >= most_of_one + refused_at_once) return;
  const auto one = std::make_shared<connection>(std::move(client), with_, std::move(from));
  if (open < most && own < most_of_one) return one->start();
  auto refused = error_response(
      429, "too_many_connections",
      fmt::format("{} {} connections already; try again later",
                  open < most ? "your address has" : "this server has", open < most ? most_of_one : most));
  refused.headers["Retry-After"] = "1";
  one->refuse(std::move(refused));
}

bool server::drain(std::chrono::milliseconds limit) {
  const auto then = std::chrono::steady_clock::now() + limit;
  boost::asio::post(acceptor_.get_executor(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
    with_.all.drain_all();
  });
  return with_.all.wait_until_none(then);
}

}  // namespace rowlock::serve
