// What happens to a request before its handler sees it: the rate, the Host header, the token, the role and the route.
#pragma once

#include "serve/http.hpp"
#include "serve/listen_address.hpp"
#include "serve/rate_limit.hpp"
#include "serve/router.hpp"
#include "serve/tokens.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rowlock::serve {

struct access_rules {
  // Empty: every client has the role `read`. Only a server that listens on a loopback address may do this.
  std::optional<tokens> known_tokens{};
  std::vector<std::string>
      hosts{};  // names that a Host header may have besides the address that the client reached
  double requests_per_second = 0;  // of each client address; 0: no limit
};

// Any thread may call it.
class dispatcher {
 public:
  // routes: must outlive the dispatcher.
  dispatcher(const router& routes, access_rules rules);

  // Answers the request, or lets its handler answer it. sent: the target of the request line. Exceptions of a handler
  // become answers, too.
  void handle(request from, std::string_view sent, const reply& to);

 private:
  // Each returns why the request is refused, or nothing.
  std::optional<response> check_rate(const request& from);
  std::optional<response> check_host(const request& from) const;
  std::optional<response> find_caller(request& from) const;
  std::optional<response> check_role(const request& from, std::optional<role> needed) const;

  const router& routes_;
  access_rules rules_;
  std::set<std::string> hosts_;
  rate_limit rate_;
};

}  // namespace rowlock::serve
