// The HTTP server with handlers of the test's own: limits, pipelining, answers that come later, streams, drain.
#include "serve/server.hpp"

#include "serve/dispatcher.hpp"
#include "serve/http_client.hpp"
#include "support/background.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class server_test : public testing::Test {
 protected:
  server_test() {
    routes_.add("GET", "/hello", {},
                [](const serve::request&, const serve::reply& to) { to.send({.body = "hello"}); });
    routes_.add("POST", "/echo", {},
                [](const serve::request& from, const serve::reply& to) { to.send({.body = from.body}); });
    routes_.add("POST", "/json", {}, [](const serve::request& from, const serve::reply& to) {
      to.send({.body = serve::json_body(from).dump()});
    });
    routes_.add("GET", "/later", {}, [this](const serve::request&, const serve::reply& to) { keep(to); });
    routes_.add("GET", "/never", {}, [](const serve::request&, const serve::reply&) {});
    routes_.add("GET", "/throws", {}, [](const serve::request&, const serve::reply&) {
      throw error(errc::contention, "too busy");
    });
    routes_.add("GET", "/locks/{name}", {}, [](const serve::request& from, const serve::reply& to) {
      to.send({.body = from.words.at("name") + "?" + from.query});
    });
  }
  ~server_test() override {
    if (server_) server_->stop();
    kept_.clear();
  }

  void start(const serve::http_limits& limits = {}, const serve::access_rules& rules = {}) {
    dispatcher_.emplace(routes_, rules);
    with_.limits = limits;
    with_.handle = [this](serve::request from, std::string_view target, const serve::reply& to) {
      dispatcher_->handle(std::move(from), target, to);
    };
    with_.answered = [](unsigned) {};
    server_.emplace(serve::parse_listen_address("127.0.0.1:0"), with_);
    server_->start();
  }
  std::uint16_t port() const { return server_->address().port; }

  void keep(const serve::reply& one) {
    const std::lock_guard lock{mutex_};
    kept_.push_back(one);
    changed_.notify_all();
  }
  // Waits until that many requests wait for their answers.
  std::vector<serve::reply> kept(std::size_t count) {
    std::unique_lock lock{mutex_};
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return kept_.size() >= count; }));
    return std::exchange(kept_, {});
  }
  static std::string code_of(const http_answer& answer) {
    return nlohmann::json::parse(answer.body).at("error").at("code");
  }

  serve::router routes_;
  std::optional<serve::dispatcher> dispatcher_;
  serve::connection_context with_;
  std::optional<serve::server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<serve::reply> kept_;
};

TEST_F(server_test, keeps_a_connection_and_answers_pipelined_requests_in_order) {
  start();
  http_client client{port()};
  client.ask("/hello");
  EXPECT_EQ(client.read().body, "hello");
  client.ask("/later");
  client.ask("/hello");
  client.ask("/locks/a%2Fb?x=1");
  kept(1).front().send({.body = "first"});
  EXPECT_EQ(client.read().body, "first");
  EXPECT_EQ(client.read().body, "hello");
  EXPECT_EQ(client.read().body, "a/b?x=1");
}

TEST_F(server_test, says_what_is_not_there) {
  start();
  http_client client{port()};
  client.ask("/nothing");
  EXPECT_EQ(client.read().status, 404);
  client.ask("/echo");
  const auto refused = client.read();
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.at("allow"), "POST");
  client.ask("/%zz");
  EXPECT_EQ(client.read().status, 400);
  client.ask("/throws");
  const auto failed = client.read();
  EXPECT_EQ(failed.status, 503);
  EXPECT_EQ(code_of(failed), "contention");
  client.ask("/never");
  EXPECT_EQ(client.read().status, 500);
}

// Old clients send an empty line after a body.
TEST_F(server_test, ignores_empty_lines_before_a_request) {
  start();
  http_client client{port()};
  for (const std::string before : {"\r\n", "\r\n\r\n"}) {
    client.send(before + "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.read().body, "hello");
  }
}

TEST_F(server_test, answers_head_without_a_body) {
  start();
  http_client client{port()};
  client.send("HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto head = client.read(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "5");
  client.ask("/hello");
  EXPECT_EQ(client.read().body, "hello");
}

TEST_F(server_test, has_security_headers_on_every_answer) {
  start();
  for (const std::string path : {"/hello", "/nothing"}) {
    const auto answer = http_get(port(), path);
    EXPECT_THAT(answer.headers.at("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
  }
}

TEST_F(server_test, knows_json_by_its_type) {
  start();
  http_client client{port()};
  const auto ask = [&](const std::string& type) {
    client.send("POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Type: " + type +
                "\r\n\r\n{}");
    return client.read().status;
  };
  for (const auto* type : {"application/json", "Application/JSON", "application/json ; charset=utf-8"}) {
    EXPECT_EQ(ask(type), 200) << type;
  }
  for (const auto* type : {"", "text/plain", "application/jsonp", "text/plain; application/json"}) {
    EXPECT_EQ(ask(type), 400) << type;
  }
}

TEST_F(server_test, limits_header_and_body) {
  start();
  http_client client{port()};
  client.ask("/hello", "X-Long: " + std::string(20'000, 'x') + "\r\n");
  const auto header = client.read();
  EXPECT_EQ(header.status, 431);
  EXPECT_EQ(code_of(header), "header_too_large");
  EXPECT_TRUE(client.is_closed_by_server());

  http_client other{port()};
  const auto post = [&](std::size_t size) {
    other.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(size) +
               "\r\n\r\n" + std::string(size, 'x'));
    return other.read();
  };
  EXPECT_EQ(post(64 * 1024).body.size(), 64U * 1024);
  const auto body = post(64 * 1024 + 1);
  EXPECT_EQ(body.status, 413);
  EXPECT_EQ(code_of(body), "body_too_large");
  EXPECT_TRUE(other.is_closed_by_server());
}

// Neither counts as a header or as a body.
TEST_F(server_test, limits_the_extensions_of_a_chunk_and_the_lines_after_the_last_one) {
  start();
  for (const std::string begin : {"1;", "0\r\nX-Trailer: "}) {
    http_client client{port()};
    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + begin +
                std::string(1 << 20, 'x'));
    const auto refused = client.read();
    EXPECT_EQ(refused.status, 431) << begin;
    EXPECT_TRUE(client.is_closed_by_server());
  }
}

TEST_F(server_test, refuses_what_is_no_http) {
  start();
  http_client client{port()};
  client.send("\x16\x03\x01 what is this?\r\n\r\n");
  const auto answer = client.read();
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(code_of(answer), "bad_request");
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(server_test, lets_a_client_send_a_body_that_it_has_announced) {
  start();
  const std::string head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-Continue\r\n";
  http_client client{port()};
  client.send(head + "Content-Length: 4\r\n\r\n");
  EXPECT_EQ(client.read_head().status, 100);
  client.send("text");
  EXPECT_EQ(client.read().body, "text");
  client.send(head + "\r\n");
  EXPECT_EQ(client.read().status, 200) << "there is no body to wait for";
  client.send(head + "Content-Length: 4\r\n\r\ntext");
  EXPECT_EQ(client.read().body, "text") << "the body is there already";
  for (const auto& [refused, status] :
       {std::pair{"Content-Length: 65537\r\n\r\n", 413}, {"Transfer-Encoding: gzip\r\n\r\n", 400}}) {
    http_client other{port()};
    other.send(head + refused);
    EXPECT_EQ(other.read().status, status);
  }
}

// A proxy in front may see the end of such a request elsewhere, and take what follows for the body.
TEST_F(server_test, refuses_a_request_whose_length_is_doubtful) {
  start();
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  for (const std::string& headers :
       std::vector<std::string>{"Transfer-Encoding: chunked, identity\r\n",
                                "Transfer-Encoding: chunked,\r\n identity\r\n",
                                "Transfer-Encoding: chunked, chunked\r\n",
                                "Transfer-Encoding: gzip, chunked\r\n",
                                "Transfer-Encoding: chunked;q=1\r\n",
                                "Transfer-Encoding: chunked foo\r\n",
                                "Transfer-Encoding: \"chunked\"\r\n",
                                "Transfer-Encoding: identity\r\n",
                                "Transfer-Encoding: xchunked\r\n",
                                "Transfer-Encoding:\r\n",
                                "Transfer-Encoding : chunked\r\n",
                                "Transfer-Encoding: identity\r\n" + chunked,
                                chunked + "Transfer-Encoding: identity\r\n",
                                chunked + chunked,
                                chunked + "Content-Length: 5\r\n",
                                "Content-Length: 5\r\n" + chunked,
                                "Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
                                "Content-Length: 5\r\nContent-Length: 6\r\n",
                                "Content-Length: 5, 6\r\n",
                                "Content-Length: +5\r\n",
                                "Content-Length: 5 5\r\n",
                                "Content-Length: 0x5\r\n",
                                "Content-Length:\r\n"}) {
    http_client client{port()};
    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\n" + headers +
                "\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto refused = client.read();
    EXPECT_EQ(refused.status, 400) << headers << refused.body;
    EXPECT_TRUE(client.is_closed_by_server()) << headers;
  }
  http_client old{port()};
  old.send("POST /echo HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n" + chunked +
           "\r\n0\r\n\r\n");
  EXPECT_EQ(old.read().status, 400) << "HTTP/1.0 knows no chunks";
  EXPECT_TRUE(old.is_closed_by_server());
}

TEST_F(server_test, knows_where_a_request_ends) {
  start();
  http_client client{port()};
  for (const std::string headers :
       {"Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "Transfer-Encoding:\r\n chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n",
        "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"}) {
    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\n" + headers);
    EXPECT_EQ(client.read().body, "abc") << headers;
  }
}

// A proxy that checks the header, or sets a part of it, does not look there.
TEST_F(server_test, takes_no_header_from_behind_the_body) {
  start();
  http_client client{port()};
  client.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read().status, 421);
}

TEST_F(server_test, limits_connections) {
  start({.connections = 1});
  http_client first{port()};
  first.ask("/hello");
  EXPECT_EQ(first.read().status, 200);
  http_client second{port()};
  const auto refused = second.read();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(code_of(refused), "too_many_connections");
  EXPECT_TRUE(second.is_closed_by_server());
  first.ask("/hello");
  EXPECT_EQ(first.read().status, 200);
}

TEST_F(server_test, leaves_connections_to_others_than_the_address_that_has_a_quarter_of_them) {
  start({.connections = 280});
  std::deque<http_client> open;
  for (int i = 0; i < 70; ++i) {
    open.emplace_back(port()).ask("/hello");
    EXPECT_EQ(open.back().read().status, 200);
  }
  const auto refused = http_client{port()}.read();
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.body, HasSubstr("your address has 70 connections already"));
  open.pop_front();
  for (bool is_let_in = false; !is_let_in;) {
    http_client next{port()};
    next.ask("/hello");
    is_let_in = next.read().status == 200;
  }
}

TEST_F(server_test, ends_slow_requests) {
  start({.idle = 100ms});
  for (const std::string part : {"G", "GET /hello HTTP/1.1\r\nHo",
                                 "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nx"}) {
    http_client slow{port()};
    slow.send(part);
    const auto answer = slow.read();
    EXPECT_EQ(answer.status, 408) << part;
    EXPECT_EQ(code_of(answer), "timeout");
    EXPECT_TRUE(slow.is_closed_by_server());
  }
}

// A client that sends its next request at this moment would take an answer to nothing for its own.
TEST_F(server_test, ends_idle_connections_without_an_answer) {
  start({.idle = 100ms});
  http_client fresh{port()};
  EXPECT_TRUE(fresh.is_closed_by_server());
  http_client used{port()};
  used.ask("/hello");
  EXPECT_EQ(used.read().status, 200);
  EXPECT_TRUE(used.is_closed_by_server());
}

TEST_F(server_test, does_not_end_a_connection_that_waits_for_its_answer) {
  start({.idle = 50ms});
  const auto is_kept = [this] {
    const std::lock_guard lock{mutex_};
    return !kept_.empty();
  };
  // If the machine pauses, the server ends the connection before the request comes.
  for (int tries = 0; tries < 5; ++tries) {
    http_client client{port()};
    auto answer = in_background([&] {
      client.ask("/later");
      return client.read();
    });
    while (!is_kept() && answer.wait_for(1ms) != std::future_status::ready) {
    }
    if (!is_kept()) continue;
    const auto waits = kept(1);
    std::this_thread::sleep_for(200ms);  // the time that would end it
    EXPECT_FALSE(waits.front().over().stop_requested());
    waits.front().send({.body = "late"});
    EXPECT_EQ(answer.get().body, "late");
    return;
  }
  FAIL() << "no request came in time";
}

TEST_F(server_test, limits_the_rate_of_an_address) {
  start({}, {.requests_per_second = 2});
  http_client client{port()};
  std::vector<int> statuses;
  for (int i = 0; i < 5; ++i) {
    client.ask("/hello");
    statuses.push_back(client.read().status);
  }
  EXPECT_EQ(statuses.front(), 200);
  EXPECT_THAT(statuses, testing::Contains(429));
}

TEST_F(server_test, checks_the_host_header) {
  start({}, {.hosts = {"Locks.example.com"}});
  const auto ask = [&](const std::string& host) {
    http_client client{port()};
    client.send("GET /hello HTTP/1.1\r\n" + host + "\r\n");
    return client.read().status;
  };
  EXPECT_EQ(ask("Host: 127.0.0.1:1\r\n"), 200);
  EXPECT_EQ(ask("Host: localhost\r\n"), 200);
  EXPECT_EQ(ask("Host: locks.example.COM:8600\r\n"), 200);
  EXPECT_EQ(ask("Host: evil.example.com\r\n"), 421);
  EXPECT_EQ(ask("Host: 127.0.0.1.evil.example.com\r\n"), 421);
  EXPECT_EQ(ask("Host: 10.0.0.1\r\n"), 421);
  EXPECT_EQ(ask(""), 421);
}

// RFC 9112, 3.2.2: the URL's host replaces the one in the header.
TEST_F(server_test, takes_a_whole_url_as_the_target) {
  start();
  const auto ask = [&](const std::string& target, const std::string& host) {
    http_client client{port()};
    client.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.read();
  };
  EXPECT_EQ(ask("http://localhost:8600/locks/a%2Fb?x=http://y/", "evil.example.com").body, "a/b?x=http://y/");
  EXPECT_EQ(ask("HTTPS://localhost/hello", "localhost").body, "hello");
  EXPECT_EQ(ask("http://evil.example.com/hello", "localhost").status, 421);
  EXPECT_EQ(ask("http://localhost:x@evil.example.com/hello", "localhost").status, 400);
  EXPECT_EQ(ask("http:///hello", "localhost").status, 421);
  EXPECT_EQ(ask("http://localhost", "localhost").status, 404) << "this is the path /";
  EXPECT_EQ(ask("http://localhost?x=/hello", "localhost").status, 404);
}

// A load balancer asks often, by an address that the server does not know, and over HTTP/1.0 without any.
TEST_F(server_test, answers_probes_at_any_rate_and_with_any_host) {
  routes_.add_probe("/readyz", [](const serve::request& from, const serve::reply& to) {
    to.send({.body = from.caller.has(serve::role::read) ? "all" : "little"});
  });
  start({}, {.requests_per_second = 2});
  const auto ask = [&](const std::string& text) {
    http_client client{port()};
    client.send(text + "\r\n");
    return client.read();
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask("GET /readyz HTTP/1.1\r\nHost: localhost\r\n").body, "all");
  for (const auto* foreign :
       {"GET /readyz HTTP/1.0\r\n", "GET /readyz HTTP/1.1\r\nHost: 10.0.0.7:8600\r\n"}) {
    const auto answer = ask(foreign);
    EXPECT_EQ(answer.status, 200) << foreign;
    EXPECT_EQ(answer.body, "little") << "it could be a page that a browser shows";
  }
  EXPECT_EQ(ask("GET /hello HTTP/1.0\r\n").status, 421);
  EXPECT_EQ(ask("POST /readyz HTTP/1.0\r\n").status, 421);
}

// Also if the client has sent a part of its next request, which the server does not read meanwhile.
TEST_F(server_test, tells_a_handler_that_its_client_has_gone) {
  start();
  for (const std::string more : {"", "G"}) {
    http_client client{port()};
    client.ask("/later");
    const auto waits = kept(1);
    std::promise<void> gone;
    const std::stop_callback noticed{waits.front().over(), [&] { gone.set_value(); }};
    client.send(more);
    EXPECT_EQ(http_get(port(), "/hello").body, "hello") << "meanwhile it sees what came";
    EXPECT_FALSE(waits.front().over().stop_requested());
    client.close();
    EXPECT_EQ(gone.get_future().wait_for(60s), std::future_status::ready) << more;
    waits.front().send({.body = "nobody reads this"});
  }
}

// A machine that loses its power or its network says nothing, and its request would wait for ever.
TEST_F(server_test, asks_whether_a_silent_client_is_there) {
  start();
  http_client client{port()};
  client.ask("/hello");
  EXPECT_EQ(client.read().status, 200);
  int found = 0;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const int socket = std::stoi(file.path().filename());
    sockaddr_in own{};
    sockaddr_in other{};
    socklen_t size = sizeof own;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0 ||
        ntohs(own.sin_port) != port()) {
      continue;
    }
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&other), &size) != 0) continue;
    const auto option = [&](int level, int name) {
      int value = 0;
      size = sizeof value;
      EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
      return value;
    };
    ++found;
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 15);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 5);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(server_test, streams_parts_as_they_come) {
  start();
  http_client client{port()};
  client.ask("/later");
  client.ask("/hello");
  const auto events = kept(1).front();
  events.begin({.type = "text/event-stream"});
  EXPECT_EQ(client.read_head().headers.at("content-type"), "text/event-stream");
  for (const std::string part : {"data: 1\n\n", "data: 2\n\n"}) {
    EXPECT_TRUE(events.write(part));
    EXPECT_EQ(client.read_chunk(), part);
  }
  events.end();
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(client.read().body, "hello");
  EXPECT_FALSE(events.write("more")) << "it has ended";
}

TEST_F(server_test, a_stream_that_was_asked_for_by_head_has_ended_when_it_begins) {
  start();
  http_client client{port()};
  client.send("HEAD /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto events = kept(1).front();
  events.begin({.type = "text/event-stream"});
  EXPECT_EQ(client.read(false).status, 200);
  events.write("nobody reads this");
  client.ask("/hello");
  EXPECT_EQ(client.read().body, "hello");
}

TEST_F(server_test, disconnects_a_reader_that_does_not_read) {
  start({.unread_bytes = 10'000});
  http_client client{port()};
  client.ask("/later");
  const auto events = kept(1).front();
  events.begin({});
  // The kernel takes some megabytes before the server notices.
  int written = 0;
  while (events.write(std::string(8'000, 'x')) && written < 1'000'000) ++written;
  EXPECT_LT(written, 1'000'000);
}

TEST_F(server_test, many_requests_wait_without_a_thread_each) {
  start();
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"},
                         std::filesystem::directory_iterator{});
  };
  const auto before = threads();
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < 400; ++i) {
    clients.push_back(std::make_unique<http_client>(port()));
    clients.back()->ask("/later");
  }
  const auto waits = kept(400);
  EXPECT_EQ(threads(), before);
  for (const auto& one : waits) one.send({.body = "done"});
  for (const auto& one : clients) EXPECT_EQ(one->read().body, "done");
}

TEST_F(server_test, drains) {
  start();
  http_client idle{port()};
  idle.ask("/hello");
  idle.read();
  http_client busy{port()};
  busy.ask("/later");
  const auto waits = kept(1);
  auto drained = in_background([&] { return server_->drain(60s); });
  EXPECT_TRUE(idle.is_closed_by_server());
  while (!waits.front().over().stop_requested()) std::this_thread::yield();
  EXPECT_THROW(http_client{port()}, std::runtime_error);
  waits.front().send({.body = "the last"});
  const auto answer = busy.read();
  EXPECT_EQ(answer.body, "the last");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(busy.is_closed_by_server());
  busy.close();
  EXPECT_TRUE(drained.get());
}

TEST_F(server_test, drains_no_longer_than_the_limit) {
  start();
  http_client busy{port()};
  busy.ask("/later");
  kept_ = kept(1);
  EXPECT_FALSE(server_->drain(50ms));
}

TEST(server, says_why_it_cannot_listen) {
  serve::connection_context with;
  const serve::server first{serve::parse_listen_address("127.0.0.1:0"), with};
  try {
    const serve::server second{first.address(), with};
    FAIL() << "two servers listen on one port";
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind(), errc::unreachable);
    EXPECT_THAT(problem.what(), HasSubstr(first.address().text()));
  }
}

}  // namespace
}  // namespace rowlock::test
