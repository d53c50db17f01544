#include "serve/dispatcher.hpp"

#include "serve/as_error.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace rowlock::serve {

namespace {

response unauthorized(std::string_view message) {
  auto refused = error_response(401, "unauthorized", message);
  refused.headers["WWW-Authenticate"] = "Bearer realm=\"rowlock\"";
  return refused;
}

// Empty: the header has another scheme. The name of the scheme may be in any case.
std::optional<std::string_view> bearer_token(std::string_view header) {
  constexpr std::string_view scheme = "bearer ";
  if (header.size() <= scheme.size() || model::lower(header.substr(0, scheme.size())) != scheme) return {};
  return header.substr(header.find_first_not_of(' ', scheme.size() - 1));
}

// The path and query. If the target is a whole URL, its host takes the place of the Host header (RFC 9112, 3.2.2).
std::string origin_form(std::string_view target, request& from) {
  const auto scheme = model::lower(target.substr(0, 8));
  const std::size_t length = scheme.starts_with("http://") ? 7 : scheme == "https://" ? 8 : 0;
  const auto rest = target.substr(length);
  const auto host = rest.substr(0, rest.find_first_of("/?"));
  if (length == 0 || host.find('@') != host.npos) return std::string{target};
  from.headers["host"] = host;
  const auto path = rest.substr(host.size());
  return (path.starts_with('/') ? "" : "/") + std::string{path};
}

void run(const handler& answer, const request& from, const reply& to) {
  try {
    answer(from, to);
  } catch (const std::exception& problem) {
    to.send(error_response(as_error(problem)));
  }
}

}  // namespace

dispatcher::dispatcher(const router& routes, access_rules rules)
    : routes_{routes}, rules_{std::move(rules)}, rate_{rules_.requests_per_second} {
  for (const auto& one : rules_.hosts) hosts_.insert(host_name(one));
}

void dispatcher::handle(request from, std::string_view sent, const reply& to) {
  const auto target = origin_form(sent, from);
  const auto mark = target.find('?');
  const auto path = std::string_view{target}.substr(0, mark);
  if (mark != target.npos) from.query = target.substr(mark + 1);
  auto match = routes_.find(from.method, path);
  const bool is_probe = match.found != nullptr && match.found->is_probe;
  auto wrong_host = check_host(from);
  if (!is_probe) {
    if (auto refused = check_rate(from)) return to.send(std::move(*refused));
    if (wrong_host) return to.send(std::move(*wrong_host));
  }
  if (!path.starts_with('/') || !percent_decoded(path)) {
    return to.send(error_response(400, "bad_request", "the path of the URL is malformed"));
  }
  // Health is for everybody, also for those whose token is wrong.
  const bool is_open = match.found != nullptr && !match.found->needs;
  if (auto refused = find_caller(from); refused && !is_open) return to.send(std::move(*refused));
  if (match.found == nullptr && !match.allowed.empty()) {
    auto refused = error_response(
        405, "method_not_allowed",
        fmt::format("{} is not possible here; this path takes {}", from.method, match.allowed));
    refused.headers["Allow"] = match.allowed;
    return to.send(std::move(refused));
  }
  if (match.found == nullptr) {
    return to.send(error_response(404, "not_found", "there is nothing at this path"));
  }
  if (auto refused = check_role(from, match.found->needs)) return to.send(std::move(*refused));
  // The page of another web site may have sent it (see check_host), and sees no more than a stranger.
  if (wrong_host) from.caller = {};
  from.words = std::move(match.words);
  run(match.found->answer, from, to);
}

std::optional<response> dispatcher::check_rate(const request& from) {
  if (!rate_.is_exceeded(from.client_address)) return {};
  auto refused = error_response(
      429, "too_many_requests",
      fmt::format("this address may send {} requests a second; wait a second", rules_.requests_per_second));
  refused.headers["Retry-After"] = "1";
  return refused;
}

// A name that an attacker resolves to this server's address (DNS rebinding) lets a browser send requests that look as
// if they came from the server's own page. The Host header of such requests has that name.
std::optional<response> dispatcher::check_host(const request& from) const {
  const auto header = from.headers.find("host");
  const auto name = header == from.headers.end() ? std::string{} : host_name(header->second);
  const bool is_local = name == "localhost" && is_loopback(from.local_address);
  if (is_local || (!name.empty() && name == from.local_address) || hosts_.contains(name)) return {};
  return error_response(421, "wrong_host",
                        "the Host header does not name this server; use its address in the URL, or start it "
                        "with --host NAME");
}

std::optional<response> dispatcher::find_caller(request& from) const {
  if (!rules_.known_tokens) {
    from.caller.name = "anybody";
    from.caller.add(role::read);
    return {};
  }
  const auto header = from.headers.find("authorization");
  if (header == from.headers.end()) {
    return unauthorized("this server needs a token: send the header Authorization: Bearer TOKEN");
  }
  const auto token = bearer_token(header->second);
  const auto found = token ? rules_.known_tokens->find(*token) : std::nullopt;
  if (!found) return unauthorized("the token is not one of this server's; ask its operator for another one");
  from.caller = *found;
  return {};
}

std::optional<response> dispatcher::check_role(const request& from, std::optional<role> needed) const {
  if (!needed || from.caller.has(*needed)) return {};
  return error_response(
      403, "forbidden",
      rules_.known_tokens
          ? fmt::format("the token of {} does not have the role {}", from.caller.name, to_string(*needed))
          : fmt::format("this needs the role {}; without --tokens every client has the role read alone",
                        to_string(*needed)));
}

}  // namespace rowlock::serve
