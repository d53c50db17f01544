// What `rowlock serve` parses itself: the first line of the bytes is a path, the rest a body, a Host header and a token
// file.
#ifdef ROWLOCK_TEST_SERVE
#include "serve/acquire_body.hpp"
#include "serve/http.hpp"
#include "serve/listen_address.hpp"
#include "serve/router.hpp"

#include "fuzz.hpp"

using namespace rowlock;

namespace {

void check_path(const serve::router& routes, const std::string& path) {
  const auto decoded = serve::percent_decoded(path);
  const auto match = routes.find("PUT", path);
  fuzz::demand(!match.found || decoded, "a path that is not well encoded leads nowhere");
  if (!match.found) return;
  for (const auto* word : {"name", "id"})
    fuzz::demand(!match.words.at(word).empty(), "a word of a path is not empty");
}

void check_body(const std::string& body) {
  serve::request from;
  from.headers["content-type"] = "application/json";
  from.body = body;
  fuzz::accepts([&] {
    auto asked = serve::acquire_body::parse(serve::json_body(from));
    fuzz::demand(asked.ttl.count() >= 100 && asked.permits >= 1, "what is accepted is possible");
    asked.wait = {};
    fuzz::demand(serve::acquire_body::parse(asked.to_json()) == asked, "it is read as it was written");
  });
}

}  // namespace

ROWLOCK_FUZZ(http_request) {
  static const auto routes = [] {
    serve::router made;
    made.add("PUT", "/v1/locks/{name}/holds/{id}", serve::role::lock, {});
    return made;
  }();
  const auto end = bytes.find('\n');
  check_path(routes, std::string{bytes.substr(0, end)});
  if (end == std::string_view::npos) return;
  const std::string rest{bytes.substr(end + 1)};
  check_body(rest);
  fuzz::demand(serve::host_name(rest).size() <= rest.size(), "a host is a part of its header");
  fuzz::accepts([&] { serve::parse_listen_address(rest); });
}
#endif
