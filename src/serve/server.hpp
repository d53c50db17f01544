// The HTTP server: it listens, and its threads serve the connections.
//
// Boost.Beast, because Boost is there already (SOCI needs it), its headers are all that is needed, it keeps connections
// alive, and thousands of requests may wait for their answers without a thread each.
#pragma once

#include "serve/connection.hpp"
#include "serve/listen_address.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <thread>
#include <vector>

namespace rowlock::serve {

class server {
 public:
  // Listens: connections wait until start(). Throws error(unreachable) if the address is in use or not one of this machine's.
  // with: outlives the server.
  server(const listen_address& at, connection_context& with);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  void start();

  // Where it listens, with the port that was chosen if the address has none.
  const listen_address& address() const noexcept { return address_; }

  // Accepts no more connections, lets each finish the request that it has begun, and waits for that. Returns whether all
  // have ended in time.
  bool drain(std::chrono::milliseconds limit);

  // Ends the threads: nothing is read and no handler begins after that. What is open is closed by the destructor, before
  // which every reply must be destroyed.
  void stop();

 private:
  void run();  // of each thread
  // Both run on the acceptor's strand; each accepted socket has a strand of its own.
  void accept();
  void serve(boost::asio::ip::tcp::socket client);

  boost::asio::io_context loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  connection_context& with_;
  listen_address address_;
  std::vector<std::thread> threads_;
};

}  // namespace rowlock::serve
