// A proxy for a server on loopback that counts round trips, and can stop reading what its client sends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace rowlock::test {

// Carries one connection to the server on 127.0.0.1 with that port. Members throw std::runtime_error.
class loopback_proxy {
 public:
  // The server is the one that the URL, of any dialect, names.
  explicit loopback_proxy(const std::string& url);
  ~loopback_proxy();
  loopback_proxy(const loopback_proxy&) = delete;
  loopback_proxy& operator=(const loopback_proxy&) = delete;

  // The same URL, but by way of this proxy.
  std::string url() const;

  // How many times the client has sent something after the server's latest answer.
  int round_trips() const { return round_trips_; }

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
  std::string url_;  // of the server
  std::atomic<int> round_trips_ = 0;
  descriptor listener_, stop_, client_, server_;
  std::jthread carrier_;
};

}  // namespace rowlock::test
