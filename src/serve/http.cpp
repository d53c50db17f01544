#include "serve/http.hpp"

#include "model/text.hpp"
#include "serve/as_error.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace rowlock::serve {

namespace {

using json = nlohmann::ordered_json;

unsigned status_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return 400;
    case errc::hold_lost: return 410;
    case errc::mismatch:
    case errc::broken_barrier:
    case errc::deadlock: return 409;
    case errc::unreachable:
    case errc::read_only:
    case errc::contention:
    case errc::cancelled:
    case errc::closed:
    case errc::authentication:
    case errc::privilege:
    case errc::not_migrated:
    case errc::too_new:
    case errc::schema: return 503;
    case errc::forked:
    case errc::database:
    case errc::internal: return 500;
  }
  return 500;
}

}  // namespace

nlohmann::json json_body(const request& from) {
  const auto type = from.headers.find("content-type");
  const auto essence = type == from.headers.end()
                           ? ""
                           : model::lower(type->second.substr(0, type->second.find_first_of("; \t")));
  if (essence != "application/json") {
    throw error(errc::invalid_argument, "send the header Content-Type: application/json");
  }
  auto body = nlohmann::json::parse(from.body, nullptr, false);
  if (!body.is_object()) throw error(errc::invalid_argument, "the body is no JSON object");
  return body;
}

std::int64_t whole_number(const nlohmann::json& body, const char* name, std::int64_t least,
                          std::int64_t most) {
  const auto found = body.find(name);
  if (found != body.end() && found->is_number_integer()) {
    const auto value = found->get<std::int64_t>();
    const bool fits = !found->is_number_unsigned() || found->get<std::uint64_t>() <= INT64_MAX;
    if (fits && value >= least && value <= most) return value;
  }
  throw error(errc::invalid_argument,
              fmt::format("\"{}\" is a whole number from {} to {}", name, least, most));
}

response json_response(unsigned status, const json& value) {
  return {.status = status,
          .body = value.dump(-1, ' ', false, json::error_handler_t::replace) + '\n',
          .type = "application/json"};
}

response error_response(unsigned status, std::string_view code, std::string_view message) {
  return json_response(status, {{"error", {{"code", code}, {"message", message}}}});
}

response error_response(const error& problem) {
  return error_response(status_of(problem.kind()), to_string(problem.kind()), problem.what());
}

response response_or_error(const std::function<response()>& make) {
  try {
    return make();
  } catch (const std::exception& problem) {
    return error_response(as_error(problem));
  }
}

reply::reply(std::shared_ptr<reply_target> to, std::stop_token gone) : state_{std::make_shared<state>()} {
  state_->to = std::move(to);
  state_->gone = std::move(gone);
}

reply::state::~state() {
  try {
    if (is_streaming.exchange(false)) to->end_stream();
    if (!is_begun) to->put(error_response(500, "internal", "the request was dropped without an answer"));
  } catch (const std::exception&) {
    // Without memory there is no answer, either; the process goes on.
  }
}

void reply::send(response whole) const {
  if (!state_->is_begun.exchange(true)) state_->to->put(std::move(whole));
}

void reply::begin(response head) const {
  if (state_->is_begun.exchange(true)) return;
  state_->is_streaming = true;
  state_->to->begin_stream(std::move(head));
}

bool reply::write(std::string part) const {
  return state_->is_streaming && state_->to->put_part(std::move(part));
}

void reply::end() const {
  if (state_->is_streaming.exchange(false)) state_->to->end_stream();
}

}  // namespace rowlock::serve
