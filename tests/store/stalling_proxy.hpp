// A proxy for a server on loopback that can stop reading what its client sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace rowlock::test {

// Carries one connection to the server on 127.0.0.1 with that port. Members throw std::runtime_error.
class stalling_proxy {
 public:
  explicit stalling_proxy(std::uint16_t server_port);
  ~stalling_proxy();
  stalling_proxy(const stalling_proxy&) = delete;
  stalling_proxy& operator=(const stalling_proxy&) = delete;

  std::uint16_t port() const { return port_; }

  // From now on the proxy reads nothing: what the client sends fills a small buffer here, and then the client's own.
  void stall();
  // Returns when some of the client's bytes have arrived.
  void await_bytes() const;
  // Reads what still arrives until the connection ends. Returns 0 if it was closed, or errno if it was reset.
  int drain();

 private:
  struct descriptor {
    ~descriptor();
    int number = -1;
  };

  void carry();

  std::uint16_t server_port_;
  std::uint16_t port_ = 0;
  descriptor listener_, stop_, client_, server_;
  std::jthread carrier_;
};

}  // namespace rowlock::test
