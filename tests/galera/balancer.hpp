// Passes each new connection on to the next of several servers, as a balancer in front of a cluster does.
#pragma once

#include <string>
#include <thread>
#include <vector>

namespace rowlock::test {

class balancer {
 public:
  // The URLs of servers on loopback ports. Throws std::runtime_error if it cannot listen.
  explicit balancer(const std::vector<std::string>& urls);
  ~balancer();  // ends the connections
  balancer(const balancer&) = delete;
  balancer& operator=(const balancer&) = delete;

  std::string instead_of_the_node_in(std::string url) const;
  static std::string port_of(const std::string& url);

 private:
  void accept_connections();
  // Passes bytes in both directions, until one end closes.
  void pass_on(int client, int server) const;

  std::vector<int> ports_;
  int listener_ = -1;
  int port_ = 0;
  int end_[2] = {-1, -1};  // a pipe that is readable once this object ends
  std::vector<std::jthread> connections_;
  std::jthread acceptor_;
};

}  // namespace rowlock::test
