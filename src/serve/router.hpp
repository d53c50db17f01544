// Which handler answers which requests.
#pragma once

#include "serve/http.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::serve {

struct route {
  std::string method;                // GET routes also answer HEAD
  std::vector<std::string> pattern;  // the parts between the slashes; "{name}" is any part
  std::optional<role> needs;         // empty: anybody may ask
  handler answer;
  bool is_probe = false;  // answered at any rate, and whatever the Host header says
};

// Used by one thread until the server starts; afterwards any thread may call find().
class router {
 public:
  // pattern: "/locks/{name}/waiters". Requires: a GET needs no more than the role `read`, because links and pictures of
  // another web site can make a browser send one.
  void add(const std::string& method, const std::string& pattern, std::optional<role> needs, handler answer);
  // A GET for health checks, whose senders neither know this server's name nor wait for their turn.
  void add_probe(const std::string& path, handler answer);

  struct match {
    const route* found = nullptr;
    std::map<std::string, std::string> words;
    std::string allowed;  // if nothing was found: the methods that the path has, "GET, HEAD"; else empty
  };
  // path: as it was sent. A part of it may contain an encoded slash, "%2F".
  match find(std::string_view method, std::string_view path) const;

 private:
  std::vector<route> routes_;
};

// Decodes "%2F". Empty: the text is not well encoded.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace rowlock::serve
