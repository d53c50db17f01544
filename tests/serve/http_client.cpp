#include "serve/http_client.hpp"

#include "support/loopback.hpp"

#include <algorithm>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace rowlock::test {

http_client::http_client(std::uint16_t port)
    : port_{port}, socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  const auto address = loopback(port);
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error("nobody listens on port " + std::to_string(port));
  }
}

http_client::~http_client() {
  close();
}

void http_client::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void http_client::send(const std::string& text) const {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const auto more = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) throw std::runtime_error("the server has closed the connection");
    sent += static_cast<std::size_t>(more);
  }
}

void http_client::ask(const std::string& path, const std::string& headers) const {
  send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n" + headers + "\r\n");
}

bool http_client::fill() {
  char part[4096];
  const auto got = ::recv(socket_, part, sizeof part, 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    throw std::runtime_error("no answer for a minute");
  if (got <= 0) return false;
  unread_.append(part, static_cast<std::size_t>(got));
  return true;
}

std::string http_client::take_line() {
  std::size_t end = 0;
  while ((end = unread_.find("\r\n")) == std::string::npos) {
    if (!fill()) throw std::runtime_error("the connection has ended; unread: " + unread_);
  }
  auto line = unread_.substr(0, end);
  unread_.erase(0, end + 2);
  return line;
}

std::string http_client::take(std::size_t count) {
  while (unread_.size() < count) {
    if (!fill()) throw std::runtime_error("the connection has ended; unread: " + unread_);
  }
  auto text = unread_.substr(0, count);
  unread_.erase(0, count);
  return text;
}

http_answer http_client::read_head() {
  http_answer answer;
  answer.status = std::stoi(take_line().substr(9, 3));
  for (auto line = take_line(); !line.empty(); line = take_line()) {
    const auto colon = line.find(": ");
    auto name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    answer.headers[name] = line.substr(colon + 2);
  }
  return answer;
}

std::string http_client::read_chunk() {
  auto text = take(std::stoul(take_line(), nullptr, 16));
  take_line();
  return text;
}

http_answer http_client::read(bool has_body) {
  auto answer = read_head();
  if (!has_body || answer.status == 304) return answer;
  if (answer.headers["transfer-encoding"] == "chunked") {
    for (auto part = read_chunk(); !part.empty(); part = read_chunk()) answer.body += part;
  } else {
    answer.body = take(std::stoul(answer.headers["content-length"]));
  }
  return answer;
}

bool http_client::is_closed_by_server() {
  while (fill()) {
  }
  return unread_.empty();
}

http_answer http_get(std::uint16_t port, const std::string& path, const std::string& headers) {
  http_client client{port};
  client.ask(path, headers);
  return client.read();
}

}  // namespace rowlock::test
