// An HTTP client that sends exactly what a test says.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace rowlock::test {

struct http_answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// One connection to 127.0.0.1. The functions throw std::runtime_error after a minute, and at an unexpected end.
class http_client {
 public:
  explicit http_client(std::uint16_t port);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  void send(const std::string& text) const;
  // A GET request with the right Host header. headers: whole lines, each with its line end.
  void ask(const std::string& path, const std::string& headers = {}) const;
  // The next answer. It has a Content-Length or is chunked, unless it is a 304. has_body: false after HEAD.
  http_answer read(bool has_body = true);
  // The status line and headers alone; the rest can be read with read_chunk().
  http_answer read_head();
  std::string read_chunk();  // "": the last one
  // Whether the server has closed the connection; waits for that.
  bool is_closed_by_server();
  void close();

 private:
  bool fill();  // false: the connection has ended
  std::string take_line();
  std::string take(std::size_t count);

  std::uint16_t port_;
  int socket_ = -1;
  std::string unread_;
};

// One request on a connection of its own.
http_answer http_get(std::uint16_t port, const std::string& path, const std::string& headers = {});

}  // namespace rowlock::test
