#ifdef ROWLOCK_TEST_POSTGRES
#include "store/postgres/postgres_conninfo.hpp"

#include "fuzz.hpp"

#include <libpq-fe.h>

#include <memory>

using namespace rowlock;

namespace {

using values = std::map<std::string, std::string>;

values read(const std::string& text) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed{
      PQconninfoParse(text.c_str(), nullptr), &PQconninfoFree};
  fuzz::demand(parsed != nullptr, "libpq can read rowlock's text");
  values result;
  for (auto* option = parsed.get(); option->keyword; ++option) {
    if (option->val) result[option->keyword] = option->val;
  }
  return result;
}

}  // namespace

ROWLOCK_FUZZ(conninfo) {
  if (bytes.find('\0') != std::string_view::npos) return;  // no URL of a caller contains NUL
  const std::string url{bytes};
  fuzz::accepts([&] {
    const store::postgres_conninfo made{url, {}};
    const auto sent = read(made.text());
    fuzz::demand(sent.at("client_encoding") == "UTF8", "the encoding is rowlock's own");
    for (const auto& server : made.servers()) {
      const auto one = read(made.text(server));
      fuzz::demand(!server.host.empty() ? one.at("host") == server.host : !one.contains("host"),
                   "each server is one host");
    }
    if (const auto password = sent.find("password"); password != sent.end() && password->second.size() >= 8) {
      const auto shown = made.scrub("postgresql://app:" + password->second + "@db/shop failed");
      fuzz::demand(shown.find(":" + password->second + "@") == std::string::npos, "the password is hidden");
    }
  });
}
#endif
