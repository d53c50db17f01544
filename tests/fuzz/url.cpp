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
  const auto with = [](const std::string& password) {
    return "cannot read postgresql://app:" + password + "@db/shop";
  };
  const auto shows = [&](const std::string& text) {
    return text.find(":" + secret + "@") != std::string::npos;
  };
  // A secret such as "//app:***" is in what every hidden password leaves, which tells nobody anything.
  if (secret.size() >= 8 && !shows(with("***"))) {
    fuzz::demand(!shows(store::hide_secret(with(secret), secret)), "a password in a URL is hidden");
  }
}
