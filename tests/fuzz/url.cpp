#include "store/url.hpp"

#include "fuzz.hpp"

#include <string>

using namespace rowlock;

ROWLOCK_FUZZ(url) {
  fuzz::accepts([&] {
    const auto read = store::parse_url(bytes);
    fuzz::demand(!read.target.empty(), "an accepted URL names something");
    const bool is_file = read.dialect == "sqlite";
    fuzz::demand(is_file || read.dialect == "postgres" || read.dialect == "mysql", "the dialect is known");
    const auto again = store::parse_url(is_file ? "sqlite:" + read.target : read.target);
    fuzz::demand(again.dialect == read.dialect && again.target == read.target, "its target means the same");
  });

  const std::vector<std::string> known{"socket", "ssl_mode", "ssl_ca"};
  if (const auto unknown = store::find_unknown_parameter(bytes, known)) {
    fuzz::demand(unknown->advice != "; did you mean " + unknown->name + "?", "a known name is known");
    fuzz::demand(fuzz::is_clean(unknown->quoted_name()), "an unknown name can be printed");
  }

  const auto half = bytes.size() / 2;
  const std::string secret{bytes.substr(0, half)};
  const auto shown = store::hide_secret("cannot read postgresql://app:" + secret + "@db/shop", secret);
  if (secret.size() >= 8) {
    fuzz::demand(shown.find(":" + secret + "@") == std::string::npos, "a password in a URL is hidden");
  }
}
