// A `rowlock serve` of a scenario's own, and connections to it.
#pragma once

#include "bench/scenario.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::bench {

class serve_process {
 public:
  // options: of `rowlock serve`, besides those that every scenario needs. Throws std::runtime_error if it does not
  // listen within half a minute.
  explicit serve_process(const plan& plan, const std::vector<std::string>& options = {});
  ~serve_process();
  serve_process(const serve_process&) = delete;
  serve_process& operator=(const serve_process&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& token() const { return token_; }  // may lock and read
  // The number in that line of /proc/PID/status, such as "VmRSS:" in KiB.
  long status(const std::string& label) const;

 private:
  void start(const plan& plan, const std::vector<std::string>& options);
  void end();

  std::filesystem::path folder_;
  std::string token_;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

// Keeps its connection. Each function throws std::runtime_error if that breaks, and for an answer other than 200.
class http_connection {
 public:
  explicit http_connection(const serve_process& server);
  ~http_connection();
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;

  // what: the method and the target.
  void send(const std::string& what, const std::string& body = {});
  // Waits for the answer to what was sent, and returns its body.
  std::string read();
  std::string ask(const std::string& what, const std::string& body = {}) {
    send(what, body);
    return read();
  }
  int descriptor() const { return socket_; }  // readable when an answer begins

 private:
  void fill();

  const std::string header_;
  int socket_;
  std::string unread_;
};

// The target of a hold of the lock "bench/http/NUMBER". Each call returns another one.
std::string next_hold(int number);

}  // namespace rowlock::bench
