#include "serve/lock_api.hpp"

#include "cli/guard_text.hpp"
#include "serve/as_error.hpp"
#include "store/embedded.hpp"

#include <rowlock/counting_semaphore.hpp>
#include <rowlock/guard/statement.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace rowlock::embedded {

std::span<const file> http_api_files();

}  // namespace rowlock::embedded

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::ordered_json;
using stop_callback = std::stop_callback<std::function<void()>>;

// A thread waits while a hold is transferred to its client, or is released. Those that wait at the same time share a
// transaction.
constexpr std::size_t threads = 64;
constexpr std::size_t renewing_threads = 8;
// A request that finds this many jobs waiting is refused. An acquire that waits in a lock's queue is no job meanwhile.
constexpr std::size_t most_jobs = 10'000;
constexpr std::size_t most_remembered = 10'000;

constexpr std::size_t shortest_id = 16;
constexpr std::size_t longest_id = 64;

http_hold_key key_of(const request& from) {
  http_hold_key key{from.caller.name, from.words.at("name"), from.words.at("id")};
  if (is_plain_name(key.id, shortest_id, longest_id)) return key;
  throw error(errc::invalid_argument,
              fmt::format("the hold's id has {} to {} letters, digits, '.', '_' and '-'; make a new one for "
                          "each hold, such as a random UUID",
                          shortest_id, longest_id));
}

response hold_response(const client& in, const http_hold_key& key, const http_hold& held) {
  const auto guard = guard_statement_for(in, key.name, held.hold, held.is_shared);
  json shown{{"name", key.name},
             {"id", key.id},
             {"token", held.token.value()},
             {"hold_id", held.hold.to_string()},
             {"weight", held.weight},
             {"expires_in_ms", held.expires_in.count()},
             {"guard", {{"sql", cli::with_values(guard.sql, guard)}}}};
  if (!guard.write.empty()) shown["guard"]["write"] = cli::with_values(guard.write, guard);
  if (held.request) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(held.request->remaining);
    shown["release_request"] = {{"reason", held.request->reason}, {"remaining_ms", left.count()}};
  }
  return json_response(200, shown);
}

// Throws error(invalid_argument) for an impossible name.
wanted lock_of(const client& in, const std::string& name, const acquire_body& asked) {
  using kind = acquire_body::kind;
  const lock_options how{.fair = asked.fair, .delay = asked.delay};
  switch (asked.what) {
    case kind::mutex: break;
    case kind::read: return shared(shared_mutex{in, name, how});
    case kind::write: return shared_mutex{in, name, how};
    case kind::permits: return permits(counting_semaphore{in, name, asked.capacity, how}, asked.permits);
  }
  return mutex{in, name, how};
}

response over_response() {
  return error_response(410, "hold_lost",
                        "there is no such hold, or it is over: it has expired, or was released or taken by "
                        "force");
}

response release_response(release_result result) {
  switch (result) {
    case release_result::released: return json_response(200, {{"result", to_string(result)}});
    case release_result::lost: return over_response();
    case release_result::pending:
    case release_result::unknown: break;
  }
  return error_response(
      503, to_string(result),
      "the release is not confirmed yet; ask again, or the lock is free when the ttl has passed");
}

response given_up_response() {
  return error_response(503, "cancelled",
                        "the wait has ended, because the server ends or the hold was released; ask again");
}

}  // namespace

class lock_api::attempt {
 public:
  attempt(lock_api& of, http_hold_key asked_key, acquire_body asked)
      : key{std::move(asked_key)}, body{std::move(asked)}, api_{of} {}
  // Whatever drops the last step without an answer, the client gets an answer, and the map loses this attempt.
  ~attempt() {
    api_.answer(*this, error_response(500, "internal", "the request was dropped without an answer"));
    const model::annotated_lock lock{api_.mutex_};
    if (--api_.alive_ == 0) api_.changed_.notify_all();
  }
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;

  const http_hold_key key;
  const acquire_body body;
  std::stop_source wait{};  // ends the wait in the queue

  // The API's mutex guards these. A client that has lost its connection sends the same request again; the latest one
  // gets the answer, and the attempt keeps its place in the queue.
  std::optional<reply> latest{};
  unsigned number = 0;       // of the latest request
  bool is_given_up = false;  // what it is granted will be released
  bool is_granted = false;   // nothing ends it any more
  bool is_answered = false;
  std::unique_ptr<stop_callback> watching{};  // the latest request's client
  std::vector<std::function<void()>>
      afterwards{};  // releases that came while a granted hold was left to its client

 private:
  lock_api& api_;
};

lock_api::lock_api(database& db)
    : db_{db},
      recent_{most_remembered},
      acquiring_{threads, most_jobs},
      releasing_{threads, most_jobs},
      renewing_{renewing_threads, most_jobs} {}

lock_api::~lock_api() {
  model::annotated_lock lock{mutex_};
  changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return alive_ == 0; });
}

void lock_api::add_routes(router& to) {
  to.add("GET", "/v1/openapi.json", {}, [](const request&, const reply& answer) {
    const auto text = embedded::http_api_files().front().text;
    answer.send({.body = std::string{text}, .type = "application/json"});
  });
  const std::string hold = "/v1/locks/{name}/holds/{id}";
  to.add("PUT", hold, role::lock,
         [this](const request& from, const reply& answer) { acquire(from, answer); });
  to.add("DELETE", hold, role::lock,
         [this](const request& from, const reply& answer) { release_hold(from, answer); });
  to.add("POST", hold + "/renew", role::lock, [this](const request& from, const reply& answer) {
    post(renewing_, answer, [this, key = key_of(from)] {
      auto result = over_response();
      db_.call("http_renew", [&](const client& in) {
        if (const auto held = renew(in, key)) result = hold_response(in, key, *held);
      });
      return result;
    });
  });
}

void lock_api::release_hold(const request& from, const reply& to) {
  const auto key = key_of(from);
  const auto release_now = [this, key, to] {
    post(releasing_, to, [this, key] {
      auto result = release_result::lost;
      db_.call("http_release", [&](const client& in) {
        result = release(in, key, recent_.take(key, recent_holds::clock::now()));
      });
      return release_response(result);
    });
  };
  attempt_ptr under_way;
  {
    const model::annotated_lock lock{mutex_};
    if (const auto found = attempts_.find(key); found != attempts_.end()) under_way = found->second;
  }
  if (!under_way || give_up(under_way, 0) || !run_afterwards(under_way, release_now)) release_now();
}

bool lock_api::run_afterwards(const attempt_ptr& one, std::function<void()> step) {
  const model::annotated_lock lock{mutex_};
  const auto found = attempts_.find(one->key);
  if (found == attempts_.end() || found->second != one) return false;
  one->afterwards.push_back(std::move(step));
  return true;
}

void lock_api::acquire(const request& from, const reply& to) {
  const auto made = begin(key_of(from), acquire_body::parse(json_body(from)), to);
  if (made) post(made, [this, made] { ask(made); });
}

lock_api::attempt_ptr lock_api::begin(const http_hold_key& key, const acquire_body& body, const reply& to) {
  attempt_ptr made = std::make_shared<attempt>(*this, key, body);
  attempt_ptr one;
  std::optional<reply> older;
  unsigned number = 0;
  {
    const model::annotated_lock lock{mutex_};
    ++alive_;  // counts `made`, which is destroyed at the end of this function if it is not used
    auto& known = attempts_[key];
    if (!known) known = made;
    one = known;
    if (one->body == body) {
      older = std::exchange(one->latest, to);
      number = ++one->number;
    }
  }
  if (number == 0) {
    to.send(error_response(409, "mismatch",
                           "a request for this hold is under way, and asks for something else; make a new id "
                           "for each hold"));
    return nullptr;
  }
  if (older) older->send(error_response(409, "superseded", "the same request was sent again"));
  watch(one, to, number);
  return one == made ? made : nullptr;
}

void lock_api::watch(const attempt_ptr& one, const reply& to, unsigned number) {
  const std::weak_ptr<attempt> weak = one;
  // If the client has gone already, the constructor calls give_up() at once, which locks the mutex. The destructor may
  // wait for such a call. So the mutex must not be locked here, nor where a stop_callback is destroyed.
  auto watching = std::make_unique<stop_callback>(to.over(), [this, weak, number] {
    if (const auto known = weak.lock()) give_up(known, number);
  });
  const model::annotated_lock lock{mutex_};
  if (number == one->number) std::swap(watching, one->watching);
}

bool lock_api::give_up(const attempt_ptr& one, unsigned number) {
  std::optional<reply> to;
  {
    const model::annotated_lock lock{mutex_};
    if ((number != 0 && number != one->number) || one->is_granted) return false;
    one->is_given_up = true;
    forget(*one);  // the next request for the key begins anew
    if (!std::exchange(one->is_answered, true)) to = std::exchange(one->latest, {});
  }
  if (to) to->send(given_up_response());
  one->wait.request_stop();
  return true;
}

// The client may have the hold already, because the answer to an earlier request, perhaps from another process, was
// lost. An exclusive hold makes the lock busy. So an exclusive request is tried first, and end() looks for the client's
// hold only if the lock was busy. A shared request might be granted twice, so the look comes before the try.
void lock_api::ask(const attempt_ptr& one) {
  if (one->body.is_shared()) {
    if (!has_it(one)) try_for(one, one->body.wait);
  } else {
    try_for(one, 0ms);
  }
}

bool lock_api::has_it(const attempt_ptr& one) {
  std::optional<response> found;
  db_.call("http_acquire", [&](const client& in) {
    if (const auto held = renew(in, one->key, one->body)) found = hold_response(in, one->key, *held);
  });
  if (found) answer(*one, std::move(*found));
  return found.has_value();
}

void lock_api::try_for(const attempt_ptr& one, std::chrono::milliseconds wait) {
  db_.call("http_acquire", [&](const client& in) {
    const executor where = [this, one](task next) {
      post(one, [shared = std::make_shared<task>(std::move(next))] { (*shared)(); });
    };
    try_acquire_async(where, lock_of(in, one->key.name, one->body), wait,
                      [this, one, wait](acquired got) { end(one, wait, std::move(got)); },
                      {.stop = one->wait.get_token()});
  });
}

void lock_api::end(const attempt_ptr& one, std::chrono::milliseconds waited, acquired got) {
  if (got.failure) return answer(*one, error_response(*got.failure));
  {
    const model::annotated_lock lock{mutex_};
    if (one->is_given_up) return;  // and the hold is released
    one->is_granted = got.hold.valid();
  }
  if (one->is_granted) return grant(one, std::move(got.hold));
  // The client may hold the lock itself. During a wait, another process may also have been granted the lock for this
  // client, if the client has asked that process and its connection to it broke.
  if (has_it(one)) return;
  if (waited < one->body.wait) return try_for(one, one->body.wait);
  answer(*one, error_response(423, "busy", "somebody holds the lock, or waits for it"));
}

void lock_api::grant(const attempt_ptr& one, hold held) {
  db_.call("http_grant", [&](const client& in) {
    auto left = leave_to_client(std::move(held), one->key, one->body);
    // One client may hold several permits or readings under one key.
    const auto expires = recent_holds::clock::now() + left.expires_in;
    if (!left.is_shared) recent_.add(one->key, left.text, expires);
    answer(*one, hold_response(in, one->key, left));
  });
}

void lock_api::answer(attempt& one, response with) {
  std::optional<reply> to;
  std::unique_ptr<stop_callback> watching;
  std::vector<std::function<void()>> afterwards;
  {
    const model::annotated_lock lock{mutex_};
    forget(one);
    watching = std::move(one.watching);
    afterwards.swap(one.afterwards);
    if (!std::exchange(one.is_answered, true)) to = std::exchange(one.latest, {});
  }
  if (to) to->send(std::move(with));
  for (const auto& step : afterwards) {
    try {
      step();
    } catch (const std::bad_alloc&) {
      // The client that asked for this release gets no answer, and asks again.
    }
  }
}

void lock_api::forget(const attempt& one) {
  const auto found = attempts_.find(one.key);
  if (found != attempts_.end() && found->second.get() == &one) attempts_.erase(found);
}

void lock_api::post(const attempt_ptr& one, std::function<void()> step) {
  const bool is_posted = acquiring_.post([this, one, step = std::move(step)] {
    try {
      step();
    } catch (const std::exception& problem) {
      answer(*one, error_response(as_error(problem)));
    }
  });
  if (!is_posted) answer(*one, error_response(503, "busy", "too many requests wait; try again later"));
}

void lock_api::post(workers& by, const reply& to, std::function<response()> make) {
  if (!by.post([to, make = std::move(make)] { to.send(response_or_error(make)); }))
    to.send(error_response(503, "busy", "too many requests wait; try again later"));
}

}  // namespace rowlock::serve
