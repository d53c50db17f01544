// A proxy that breaks the connections to a server: each fault of a network, at will.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace rowlock::test {

// What the proxy does with the bytes.
enum class carrying {
  all,
  late,          // each part waits 10 to 80 ms
  nothing_up,    // what clients send does not arrive; the connections stay
  nothing_down,  // what the server sends does not arrive
  nobody,        // new connections are closed at once
  lose_a_reply,  // a reply is dropped, if possible that to a COMMIT, and its connection is cut
};

// Listens on a port of 127.0.0.1. Members throw std::runtime_error.
class fault_proxy {
 public:
  // server: the path of a Unix socket, or a port of 127.0.0.1.
  explicit fault_proxy(std::string server);
  ~fault_proxy();
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;

  std::uint16_t port() const noexcept { return port_; }

  void carry(carrying what) { what_ = what; }
  // Ends every connection in both directions.
  void cut();
  // Ends every connection in one direction, chosen at random for each.
  void half_close();
  std::int64_t lost_replies() const noexcept { return lost_replies_; }

 private:
  struct link;
  void accept();
  void start(int client);
  void carry_up(link& one);
  void carry_down(link& one);
  void wait_if_late() const;
  void end(link& one);

  const std::string server_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<carrying> what_{carrying::all};
  std::atomic<std::int64_t> lost_replies_{0};
  std::atomic<bool> is_ending_{false};
  std::mutex mutex_;
  std::list<std::unique_ptr<link>> links_;
  std::jthread acceptor_;
};

}  // namespace rowlock::test
