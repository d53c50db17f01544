// Names in the output for programs, --json.
#include "cli/output.hpp"

#include "fuzz.hpp"

#include <nlohmann/json.hpp>

using namespace rowlock;

ROWLOCK_FUZZ(json_output) {
  lock_info lock;
  lock.name = bytes;
  holder_info holder;
  holder.application = bytes;
  holder.host = bytes;
  lock.holders.push_back(holder);
  const auto text = cli::json_text(cli::json::array({cli::to_json(lock)}));

  auto lines = text;
  std::erase(lines, '\n');
  fuzz::demand(fuzz::is_clean(lines), "the output is UTF-8 without control characters");

  const auto read = nlohmann::json::parse(text);
  fuzz::demand(read.size() == 1 && read[0]["holders"].size() == 1, "one lock is one object");
  if (fuzz::read_utf8(bytes, [](char32_t) {})) {
    fuzz::demand(read[0]["name"] == std::string{bytes}, "a name is read as it was written");
    fuzz::demand(read[0]["holders"][0]["application"] == std::string{bytes}, "and so is an application");
  }
}
