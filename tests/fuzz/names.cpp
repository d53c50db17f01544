#include "model/names.hpp"

#include "fuzz.hpp"

using namespace rowlock;

ROWLOCK_FUZZ(names) {
  const bool is_name = fuzz::accepts([&] { model::check_name(bytes); });
  const bool is_expected = !bytes.empty() && bytes.size() <= 512 && fuzz::is_clean(bytes);
  fuzz::demand(is_name == is_expected, "a name is 1 to 512 bytes of UTF-8 without control characters");

  const bool is_application = fuzz::accepts([&] { model::check_application(bytes); });
  fuzz::demand(is_application == (bytes.size() <= 255 && fuzz::is_clean(bytes)),
               "an application is like a name");

  const bool is_value = fuzz::accepts([&] { model::check_value(bytes); });
  const bool is_text = fuzz::read_utf8(bytes, [](char32_t) {}) && bytes.find('\0') == std::string_view::npos;
  fuzz::demand(is_value == (bytes.size() <= 4096 && is_text),
               "a value is at most 4096 bytes of UTF-8 without NUL");

  const auto shown = model::printable(bytes);
  fuzz::demand(fuzz::is_clean(shown), "what the system gave is made clean");
  fuzz::demand(!fuzz::is_clean(bytes) || shown == bytes, "a clean text stays as it is");

  if (fuzz::accepts([&] { model::check_identifier("prefix", bytes); })) {
    fuzz::demand(bytes.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos,
                 "an identifier is safe in SQL");
    fuzz::demand(!bytes.empty() && bytes.size() <= 31 && (bytes[0] < '0' || bytes[0] > '9'),
                 "an identifier has the right length and start");
  }
}
