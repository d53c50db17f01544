#include "serve/connection.hpp"

#include "model/text.hpp"
#include "serve/rate_limit.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include <poll.h>

namespace rowlock::serve {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using namespace std::chrono_literals;

// What every response has. A page may replace the policy to allow its own script.
const std::map<std::string, std::string>& security_headers() {
  static const std::map<std::string, std::string> all{
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"}};
  return all;
}

constexpr std::size_t largest_read = 128 * 1024;

// Writes an IPv4 address in the same way whether the server listens on IPv4 alone or also on IPv6.
std::string text_of(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  auto text = address.to_string();
  return text.substr(0, text.find('%'));
}

template <class View>
std::string copied(const View& text) {
  return {text.data(), text.size()};
}

// Without the body.
request to_request(const http::request<http::string_body>& from) {
  request result{.method = copied(from.method_string())};
  for (const auto& field : from) {
    auto& value = result.headers[model::lower(copied(field.name_string()))];
    // Several lines of a header mean the same as one line.
    value += (value.empty() ? "" : ", ") + copied(field.value());
  }
  return result;
}

// Whether a proxy may see the end of the request elsewhere than Beast, which refuses a doubtful Content-Length itself, but
// ignores a coding that is not the last or not `chunked`.
bool is_doubtful(const request& from, unsigned version) {
  const auto coding = from.headers.find("transfer-encoding");
  return coding != from.headers.end() && (version < 11 || model::lower(coding->second) != "chunked");
}

response refusal_of(error_code failed, const http_limits& limits) {
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow) {
    return error_response(431, "header_too_large",
                          fmt::format("the header has more than {} bytes", limits.header_bytes));
  }
  if (failed == http::error::body_limit) {
    return error_response(413, "body_too_large",
                          fmt::format("the body has more than {} bytes", limits.body_bytes));
  }
  return error_response(400, "bad_request", fmt::format("this is no HTTP request: {}", failed.message()));
}

}  // namespace

std::string client_of(const asio::ip::tcp::socket& one) {
  error_code failed;
  const auto client = one.remote_endpoint(failed);
  return failed ? std::string{} : client_key(text_of(client.address()));
}

void connections::add(connection* one, std::weak_ptr<connection> weak, const std::string& from) {
  const model::annotated_lock lock{mutex_};
  auto& count = by_client_[from];
  all_[one] = {std::move(weak), from};
  ++count;  // after what may throw, because remove() relies on both
}

void connections::remove(connection* one) {
  const model::annotated_lock lock{mutex_};
  const auto found = all_.find(one);
  if (found == all_.end()) return;
  const auto client = by_client_.find(found->second.from);
  if (--client->second == 0) by_client_.erase(client);
  all_.erase(found);
  changed_.notify_all();
}

std::size_t connections::count() {
  const model::annotated_lock lock{mutex_};
  return all_.size();
}

std::size_t connections::count_from(const std::string& client) {
  const model::annotated_lock lock{mutex_};
  const auto found = by_client_.find(client);
  return found == by_client_.end() ? 0 : found->second;
}

void connections::drain_all() {
  std::vector<std::shared_ptr<connection>> open;
  {
    const model::annotated_lock lock{mutex_};
    for (const auto& [_, known] : all_) {
      if (auto one = known.weak.lock()) open.push_back(std::move(one));
    }
  }
  for (const auto& one : open) one->drain();
}

bool connections::wait_until_none(std::chrono::steady_clock::time_point then) {
  model::annotated_lock lock{mutex_};
  return changed_.wait_until(lock, then, [this]() ROWLOCK_REQUIRES(mutex_) { return all_.empty(); });
}

// The buffer has room for a header and for the largest single read, and no more. The parser's limits count neither the
// extensions of a chunk nor the lines after the last chunk, so a client could make an unlimited buffer grow for ever.
connection::connection(socket client, connection_context& with, std::string from)
    : socket_{std::move(client)},
      with_{with},
      from_{std::move(from)},
      timer_{socket_.get_executor()},
      watching_{socket_.get_executor()},
      buffer_{with.limits.header_bytes + largest_read} {}

connection::~connection() {
  with_.all.remove(this);
}

template <class Action>
void connection::on_strand(Action act) {
  asio::dispatch(socket_.get_executor(), [self = shared_from_this(), act = std::move(act)] { act(*self); });
}

void connection::start() {
  with_.all.add(this, weak_from_this(), from_);
  on_strand([](connection& self) { self.read(); });
}

void connection::refuse(response why) {
  with_.all.add(this, weak_from_this(), from_);
  on_strand([why = std::move(why)](connection& self) { self.refuse_now(why); });
}

void connection::drain() {
  on_strand([](connection& self) {
    self.is_draining_ = true;
    if (self.gone_) return (void)self.gone_->request_stop();
    const bool is_over = self.is_answered_ && self.outbox_.empty();
    if (self.is_idle() || is_over) self.close();
  });
}

void connection::put(response whole) {
  on_strand([whole = std::move(whole)](connection& self) { self.answer_now(whole); });
}

void connection::begin_stream(response head) {
  on_strand([head = std::move(head)](connection& self) { self.begin_now(head); });
}

bool connection::put_part(std::string part) {
  if (is_closed_) return false;
  if (part.empty()) return true;
  unread_ += part.size();
  const bool is_too_slow = unread_ > with_.limits.unread_bytes;
  on_strand([is_too_slow, part = std::move(part)](connection& self) {
    if (is_too_slow) return self.close();
    if (!self.is_streaming_) return;
    self.send(self.is_chunked_ ? fmt::format("{:x}\r\n{}\r\n", part.size(), part) : part);
  });
  return !is_too_slow;
}

void connection::end_stream() {
  on_strand([](connection& self) {
    if (!std::exchange(self.is_streaming_, false)) return;
    self.is_answered_ = true;
    self.send(self.is_chunked_ ? "0\r\n\r\n" : "");
  });
}

bool connection::is_idle() const {
  return parser_ && !parser_->got_some() && buffer_.size() == 0;
}

void connection::read() {
  is_answered_ = false;
  gone_.reset();
  parser_.emplace();
  parser_->header_limit(with_.limits.header_bytes);
  parser_->body_limit(with_.limits.body_bytes);
  set_timer(&connection::stop_reading, with_.limits.idle);
  read_header();
}

// Skips the line end that an old client sends after a body (RFC 9112, 2.2), which Beast takes for a malformed request.
void connection::read_header() {
  const auto begins_with = [this](char letter) {
    return buffer_.size() > 0 && *static_cast<const char*>(buffer_.cdata().data()) == letter;
  };
  while (begins_with('\r') || begins_with('\n')) buffer_.consume(1);
  if (buffer_.size() > 0) {
    return http::async_read_header(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](error_code failed, std::size_t) { self->after_header(failed); });
  }
  if (is_draining_) return close();
  socket_.async_read_some(buffer_.prepare(std::max<std::size_t>(buffer_.capacity(), 512)),
                          [self = shared_from_this()](error_code failed, std::size_t size) {
                            self->buffer_.commit(size);
                            if (failed || self->is_closed_ || self->is_timed_out_)
                              return self->after_read(failed);
                            self->read_header();
                          });
}

// The headers are taken before the body is read, because Beast adds the lines after the last chunk to them: a proxy that
// checks or sets headers does not look there.
void connection::after_header(error_code failed) {
  if (failed || is_closed_ || is_timed_out_) return after_read(failed);
  request_ = to_request(parser_->get());
  if (is_doubtful(request_, parser_->get().version())) {
    stop_timer();
    return refuse_now(error_response(400, "bad_request",
                                     "the length of the body is in doubt; send Content-Length, or over "
                                     "HTTP/1.1 Transfer-Encoding: chunked"));
  }
  // A client may ask for leave to send its body, and waits for a while if it gets no answer.
  const auto expected = request_.headers.find("expect");
  const bool awaits_leave = expected != request_.headers.end() &&
                            model::lower(expected->second) == "100-continue" &&
                            parser_->get().version() >= 11 && !parser_->is_done() && buffer_.size() == 0;
  if (!awaits_leave) return read_body();
  static constexpr std::string_view leave = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(leave),
                    [self = shared_from_this()](error_code failed, std::size_t) {
                      if (failed || self->is_closed_ || self->is_timed_out_) return self->after_read(failed);
                      self->read_body();
                    });
}

void connection::read_body() {
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](error_code failed, std::size_t) { self->after_read(failed); });
}

void connection::after_read(error_code failed) {
  stop_timer();
  if (is_closed_) return;
  if (is_timed_out_) {
    // The client may just be sending its next request, and would take this answer for the one to that.
    if (is_idle()) return close();
    return refuse_now(error_response(
        408, "timeout", fmt::format("no whole request came within {} ms", with_.limits.idle.count())));
  }
  if (!failed) return handle_request();
  const bool is_malformed = failed.category() == http::make_error_code(http::error::bad_method).category() &&
                            failed != http::error::end_of_stream && failed != http::error::partial_message;
  if (is_malformed) return refuse_now(refusal_of(failed, with_.limits));
  close();
}

void connection::handle_request() {
  keeps_alive_ = parser_->keep_alive() && !is_draining_;
  auto message = parser_->release();
  version_ = message.version();
  is_head_ = message.method() == http::verb::head;
  const auto target = copied(message.target());
  auto from = std::exchange(request_, {});
  from.body = std::move(message.body());
  error_code failed;
  const auto client = socket_.remote_endpoint(failed);
  if (failed) return close();
  from.client_address = text_of(client.address());
  from.local_address = text_of(socket_.local_endpoint(failed).address());
  gone_.emplace();
  if (is_draining_) gone_->request_stop();  // the request was being read when the drain began
  const reply to{shared_from_this(), gone_->get_token()};
  watch_client();
  with_.handle(std::move(from), target, to);
}

// Waits until the socket is readable: then the client has gone, or has sent a part of its next request, which stays
// unread.
void connection::watch_client() {
  socket_.async_wait(socket::wait_read, [self = shared_from_this()](error_code failed) {
    if (!failed) self->look_for_client();
  });
}

// The socket stays readable as long as something is unread, so its end must be asked for from time to time.
void connection::look_for_client() {
  if (!gone_ || is_answered_ || is_closed_) return;
  pollfd end{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  if (::poll(&end, 1, 0) > 0) return (void)gone_->request_stop();
  watching_.expires_after(250ms);
  watching_.async_wait([self = shared_from_this()](error_code failed) {
    if (!failed) self->look_for_client();
  });
}

void connection::refuse_now(response why) {
  keeps_alive_ = false;
  is_head_ = false;
  answer_now(why);
}

std::string connection::head_of(const response& from, std::optional<std::size_t> length) const {
  http::response<http::empty_body> head{static_cast<http::status>(from.status), version_};
  for (const auto& [name, value] : security_headers()) head.set(name, value);
  head.set(http::field::content_type, from.type);
  for (const auto& [name, value] : from.headers) head.set(name, value);
  head.keep_alive(keeps_alive_);
  if (length) {
    head.content_length(*length);
  } else if (is_chunked_) {
    head.chunked(true);
  }
  std::ostringstream text;
  text << head.base();
  return text.str();
}

void connection::answer_now(const response& whole) {
  with_.answered(whole.status);
  if (is_draining_) keeps_alive_ = false;
  // 304 has no body, and its length would be that of the body which it leaves out.
  auto text = head_of(whole, whole.status == 304 ? std::nullopt : std::optional{whole.body.size()});
  if (!is_head_) text += whole.body;
  is_answered_ = true;
  send(std::move(text));
}

// HTTP/1.0 knows no chunks: there the end of the connection is the end of the stream.
void connection::begin_now(const response& head) {
  with_.answered(head.status);
  is_chunked_ = version_ >= 11;
  if (is_draining_ || !is_chunked_) keeps_alive_ = false;
  is_streaming_ = !is_head_;
  is_answered_ = is_head_;
  send(head_of(head, {}));
}

void connection::send(std::string text) {
  const bool is_idle = outbox_.empty();
  outbox_.push_back(std::move(text));
  if (is_idle) write_next();
}

void connection::write_next() {
  if (is_closed_) return;
  set_timer(&connection::close, with_.limits.idle);
  asio::async_write(socket_, asio::buffer(outbox_.front()),
                    [self = shared_from_this()](error_code failed, std::size_t written) {
                      self->stop_timer();
                      if (failed) return self->close();
                      self->unread_ -= std::min<std::size_t>(self->unread_, written);
                      self->outbox_.pop_front();
                      if (!self->outbox_.empty()) return self->write_next();
                      if (self->is_answered_) self->after_answer();
                    });
}

void connection::after_answer() {
  gone_.reset();
  error_code ignored;
  socket_.cancel(ignored);  // ends watch_client()
  watching_.cancel();
  is_chunked_ = false;
  unread_ = 0;
  if (keeps_alive_) return read();
  socket_.shutdown(socket::shutdown_send, ignored);
  set_timer(&connection::close, std::min<std::chrono::milliseconds>(with_.limits.idle, 2s));
  read_rest();
}

// If the socket were closed while data that nobody has read is in it, the client could lose the answer.
void connection::read_rest() {
  socket_.async_read_some(asio::buffer(ignored_),
                          [self = shared_from_this()](error_code failed, std::size_t) {
                            if (failed) return self->close();
                            self->read_rest();
                          });
}

// A timer that was stopped or set again may already have fired, so each has a number.
void connection::set_timer(void (connection::*act)(), std::chrono::milliseconds after) {
  timer_.expires_after(after);
  timer_.async_wait([self = shared_from_this(), act, number = ++timer_number_](error_code) {
    if (number == self->timer_number_) (*self.*act)();
  });
}

void connection::stop_timer() {
  ++timer_number_;
  timer_.cancel();
}

void connection::stop_reading() {
  is_timed_out_ = true;
  error_code ignored;
  socket_.cancel(ignored);
  // A read that is just being handled could not be cancelled, and may be followed by another one.
  set_timer(&connection::stop_reading, 100ms);
}

void connection::close() {
  if (is_closed_.exchange(true)) return;
  if (gone_) gone_->request_stop();
  stop_timer();
  error_code ignored;
  socket_.close(ignored);
  with_.all.remove(this);  // a handler may keep its reply, and this object with it, for longer
}

}  // namespace rowlock::serve
