// One connection of an HTTP client, and the connections that a server has.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/http.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::serve {

struct http_limits {
  std::uint32_t header_bytes = 16 * 1024;
  std::uint64_t body_bytes = 64 * 1024;
  std::size_t connections = 4096;
  // How long the server waits for a whole request, and how long a client may take to read a part of an answer.
  std::chrono::milliseconds idle = std::chrono::seconds{75};
  std::size_t unread_bytes = 1024 * 1024;  // of a stream, before its reader is disconnected
};

class connection;

// Counts the connections, and reaches all of them. Any thread may call it.
class connections {
 public:
  // from: the client, see client_key().
  void add(connection* one, std::weak_ptr<connection> weak, const std::string& from);
  void remove(connection* one);
  std::size_t count();
  std::size_t count_from(const std::string& client);
  void drain_all();
  // Waits until there is none, or the time has passed. Returns whether there is none.
  bool wait_until_none(std::chrono::steady_clock::time_point then);

 private:
  struct entry {
    std::weak_ptr<connection> weak;
    std::string from;
  };

  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::map<connection*, entry> all_ ROWLOCK_GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> by_client_ ROWLOCK_GUARDED_BY(mutex_);
};

// What tells the socket's client from others, see client_key(). Empty: the client has gone already.
std::string client_of(const boost::asio::ip::tcp::socket& one);

// What the connections of a server have in common. It outlives them.
struct connection_context {
  http_limits limits;
  std::function<void(request, std::string_view target, const reply&)> handle;
  std::function<void(unsigned status)> answered;  // for statistics
  connections all;
};

// Reads one request after the other: the next one when the answer to the last one was written, so pipelined requests
// are answered in their order. While a handler has not answered, no thread waits; the connection only notices whether
// the client goes. Everything happens on one strand, which the socket has.
class connection : public reply_target, public std::enable_shared_from_this<connection> {
 public:
  using socket = boost::asio::ip::tcp::socket;

  // from: the client, see client_key().
  connection(socket client, connection_context& with, std::string from);
  ~connection() override;

  void start();
  // Answers with this and closes the connection, without reading a request.
  void refuse(response why);
  // Ends an idle connection now, and any other one after its answer.
  void drain();

  void put(response whole) override;
  void begin_stream(response head) override;
  bool put_part(std::string part) override;
  void end_stream() override;

 private:
  // All of these run on the strand.
  void read();
  void read_header();
  void after_header(boost::system::error_code failed);
  void read_body();
  void after_read(boost::system::error_code failed);
  void handle_request();
  void refuse_now(response why);
  void watch_client();
  void look_for_client();
  void answer_now(const response& whole);
  void begin_now(const response& head);
  void send(std::string text);
  void write_next();
  void after_answer();
  void read_rest();
  void set_timer(void (connection::*act)(), std::chrono::milliseconds after);
  void stop_timer();
  void stop_reading();
  bool is_idle() const;  // nothing of a request has come
  void close();

  template <class Action>
  void on_strand(Action act);
  std::string head_of(const response& from, std::optional<std::size_t> length) const;

  socket socket_;
  connection_context& with_;
  const std::string from_;
  boost::asio::steady_timer timer_;
  unsigned timer_number_ = 0;
  boost::asio::steady_timer watching_;  // of look_for_client()
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  request request_;  // of which the body is being read
  std::deque<std::string> outbox_;
  std::array<char, 1024> ignored_{};
  std::optional<std::stop_source> gone_;  // of the request that waits for its answer
  bool is_answered_ = false;              // all parts of the answer are in the outbox
  bool is_timed_out_ = false;
  bool is_draining_ = false;
  bool is_streaming_ = false;  // a stream has begun and not ended
  bool is_chunked_ = false;
  bool is_head_ = false;  // of the present request: its answer has no body
  bool keeps_alive_ = false;
  unsigned version_ = 11;
  std::atomic<std::size_t> unread_{0};
  std::atomic<bool> is_closed_{false};
};

}  // namespace rowlock::serve
