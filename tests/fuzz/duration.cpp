#include "cli/text.hpp"

#include "fuzz.hpp"

using namespace rowlock;

ROWLOCK_FUZZ(duration) {
  fuzz::accepts([&] {
    const auto read = cli::parse_duration("--wait", bytes);
    fuzz::demand(read.count() >= 0, "no duration is negative");
    fuzz::demand(read <= std::chrono::hours{24 * 3'652}, "no duration is longer than ten years");
    const auto shown = cli::format_duration(read);
    if (shown.find('.') == std::string::npos) {
      // The shown duration is cut after the first decimal.
      const auto again = cli::parse_duration("--wait", shown);
      fuzz::demand(again <= read && (read - again) * 10 <= read, "what is shown is off by a tenth at most");
    }
    fuzz::demand(cli::parse_duration("--wait", std::to_string(read.count()) + "ms") == read,
                 "milliseconds are the same duration");
  });
}
