// What a handler of the HTTP server sees: a request, and the reply that it gives at once or later.
#pragma once

#include "serve/tokens.hpp"

#include <rowlock/error.hpp>

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace rowlock::serve {

struct request {
  std::string method{};                          // "GET"
  std::string query{};                           // as it was sent, without the question mark
  std::map<std::string, std::string> words{};    // what the {name}s of the route's pattern stand for
  std::map<std::string, std::string> headers{};  // names in lower case
  std::string body{};
  std::string client_address{};  // without the port
  std::string local_address{};   // to which the client has connected, without the port
  principal caller{};
};

struct response {
  unsigned status = 200;
  std::string body{};
  std::string type = "text/plain; charset=utf-8";
  std::map<std::string, std::string> headers{};  // replace those that every response has
};

// The JSON object in the body. Throws error(invalid_argument) if there is none, or if the headers do not announce JSON.
// A browser sends announced JSON on behalf of another web site only after it has asked this server whether it may.
nlohmann::json json_body(const request& from);
// Throws error(invalid_argument) unless the member is a whole number from least to most.
std::int64_t whole_number(const nlohmann::json& body, const char* name, std::int64_t least,
                          std::int64_t most);

response json_response(unsigned status, const nlohmann::ordered_json& value);
// {"error": {"code": …, "message": …}}. The code is for programs.
response error_response(unsigned status, std::string_view code, std::string_view message);
// The status follows from the error's code: 503 where the same call may succeed later.
response error_response(const error& problem);
// What `make` returns, or the error that it throws.
response response_or_error(const std::function<response()>& make);

// Where a reply goes: a connection. Its functions may be called from any thread; they neither wait nor fail.
class reply_target {
 public:
  virtual ~reply_target() = default;
  virtual void put(response whole) = 0;
  virtual void begin_stream(response head) = 0;
  // False: the client has gone, or reads so slowly that it was disconnected.
  virtual bool put_part(std::string part) = 0;
  virtual void end_stream() = 0;
};

// The answer to one request. Copies are the same answer, and may be given by any thread at any later time: no thread
// waits for it. If the last copy is destroyed before the answer, the client gets an internal error.
//
// A handler either sends one whole response, or begins a stream and writes its parts, such as server-sent events.
class reply {
 public:
  // gone: see over().
  reply(std::shared_ptr<reply_target> to, std::stop_token gone);

  // The first call counts; later ones do nothing.
  void send(response whole) const;

  // The client gets the status and the headers at once, and the parts as they are written.
  void begin(response head) const;
  // Returns false if nobody reads any more. Requires: begin() was called.
  bool write(std::string part) const;
  void end() const;

  // Stops when the client has gone, or when the server is about to end and the reply should be given now. The callbacks
  // run on a thread of the server: keep them short.
  std::stop_token over() const { return state_->gone; }

 private:
  struct state {
    std::shared_ptr<reply_target> to;
    std::stop_token gone;
    std::atomic<bool> is_begun{false};
    std::atomic<bool> is_streaming{false};

    ~state();
  };

  std::shared_ptr<state> state_;
};

using handler = std::function<void(const request&, const reply&)>;

}  // namespace rowlock::serve
