#ifdef ROWLOCK_TEST_MYSQL
#include "store/mysql/mysql_endpoint.hpp"

#include "fuzz.hpp"

#include <set>

using namespace rowlock;
using namespace std::chrono_literals;

namespace {

// Reads SOCI's connect string: key='value', where a backslash escapes.
std::map<std::string, std::string> read(std::string_view text) {
  std::map<std::string, std::string> result;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const auto equals = text.find('=', at);
    fuzz::demand(equals != std::string_view::npos, "each key has a value");
    const std::string key{text.substr(at, equals - at)};
    at = equals + 1;
    std::string value;
    if (text[at] == '\'') {
      for (++at;; ++at) {
        fuzz::demand(at < text.size(), "each quote ends");
        if (text[at] == '\'') break;
        if (text[at] == '\\') ++at;
        value += text[at];
      }
      ++at;
    } else {
      const auto end = text.find(' ', at);
      value = text.substr(at, end - at);
      at = end == std::string_view::npos ? text.size() : end;
    }
    fuzz::demand(result.emplace(key, value).second, "no key comes twice");
  }
  return result;
}

const std::set<std::string> expected_keys{
    "dbname", "charset", "user",   "password",        "host",         "port",         "unix_socket",
    "sslca",  "sslcert", "sslkey", "connect_timeout", "read_timeout", "write_timeout"};

}  // namespace

ROWLOCK_FUZZ(endpoint) {
  fuzz::accepts([&] {
    const store::mysql_endpoint made{bytes};
    fuzz::demand(made.places() > 0, "an accepted URL has a place");
    for (std::size_t place = 0; place < made.places(); ++place) {
      const auto sent = read(made.connect_string(2s, 5s, place));
      fuzz::demand(sent.at("dbname") == made.database(), "the database is the URL's");
      fuzz::demand(sent.at("charset") == "utf8mb4", "the character set is rowlock's own");
      for (const auto& [key, value] : sent)
        fuzz::demand(expected_keys.contains(key), "no key is the URL's own");
      const auto password = sent.find("password");
      if (password == sent.end() || password->second.size() < 8) continue;
      const auto shown = made.scrub("mysql://app:" + password->second + "@db/shop failed");
      fuzz::demand(shown.find(":" + password->second + "@") == std::string::npos, "the password is hidden");
    }
  });
}
#endif
