#include "fuzz.hpp"

namespace rowlock::fuzz {

std::map<std::string, function*>& targets() {
  static std::map<std::string, function*> known;
  return known;
}

bool read_utf8(std::string_view text, const std::function<void(char32_t)>& each) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at++]);
    if (first < 0x80) {
      each(first);
      continue;
    }
    if (first < 0xC0 || first > 0xF7) return false;
    const std::size_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    char32_t code = first & (0x3FU >> more);
    for (std::size_t i = 0; i < more; ++i, ++at) {
      if (at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80) return false;
      code = code << 6 | (static_cast<unsigned char>(text[at]) & 0x3FU);
    }
    constexpr char32_t shortest[] = {0, 0x80, 0x800, 0x10000};
    if (code < shortest[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    each(code);
  }
  return true;
}

bool is_clean(std::string_view text) {
  bool clean = true;
  const bool is_utf8 = read_utf8(text, [&](char32_t code) {
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) clean = false;
  });
  return is_utf8 && clean;
}

}  // namespace rowlock::fuzz
