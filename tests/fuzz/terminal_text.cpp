// The command's output for people.
#include "cli/text.hpp"

#include "fuzz.hpp"

#include <algorithm>

using namespace rowlock;

namespace {

// Characters that a reader of a line cannot see, or that change the order of what is read: Unicode's bidirectional
// controls, and what it calls "default ignorable", without the variation selectors of ordinary text.
bool deceives(char32_t code) {
  const auto within = [code](char32_t from, char32_t to) { return code >= from && code <= to; };
  return within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) || code == 0xFEFF ||
         code == 0x61C || code == 0xAD || code == 0x180E || within(0xFFF9, 0xFFFB) ||
         within(0xE0000, 0xE007F);
}

bool is_safe(std::string_view text) {
  bool safe = fuzz::is_clean(text);
  fuzz::read_utf8(text, [&](char32_t code) { safe = safe && !deceives(code); });
  return safe;
}

}  // namespace

ROWLOCK_FUZZ(terminal_text) {
  const auto shown = cli::printable(bytes);
  fuzz::demand(is_safe(shown), "what is printed is safe on a terminal");
  fuzz::demand(cli::printable(shown) == shown, "what is safe stays as it is");
  fuzz::demand(is_safe(cli::one_line(bytes)), "a message is safe on a terminal");

  const auto half = bytes.size() / 2;
  const auto rows =
      cli::table({{"name", "holder"}, {std::string{bytes.substr(0, half)}, std::string{bytes.substr(half)}}});
  fuzz::demand(std::ranges::count(rows, '\n') == 2, "a table has one line for each row");
  auto lines = rows;
  std::erase(lines, '\n');
  fuzz::demand(is_safe(lines), "a table is safe on a terminal");

  if (bytes.find("s3cret-word") != std::string_view::npos) return;
  fuzz::demand(cli::without_passwords("postgresql://app:s3cret-word@db/shop " + std::string{bytes})
                       .find("s3cret-word") == std::string::npos,
               "a password is hidden whatever follows");
}
