#include "model/text.hpp"

#include <algorithm>

namespace rowlock::model {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string spelled_plainly(std::string_view word) {
  auto result = lower(word);
  std::erase_if(result, [](char letter) { return letter == '_' || letter == '-'; });
  return result;
}

// The distance of Damerau and Levenshtein, in which a swap of two neighbours counts once.
std::size_t edit_distance(std::string_view one, std::string_view other) {
  // Three rows of the table of distances: the one before the last, the last, and the current one.
  std::vector<std::size_t> before(other.size() + 1), last(other.size() + 1), row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t changed = one[i - 1] == other[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
      const bool is_swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string lower(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return result;
}

utf8_character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (is_overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
  return {code, length};
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

int hex_value(char digit) {
  if (digit >= 'A' && digit <= 'F') digit = static_cast<char>(digit - 'A' + 'a');
  const auto value = hex_digits.find(digit);
  return value == std::string_view::npos ? -1 : static_cast<int>(value);
}

void append_hex(std::string& text, std::string_view bytes) {
  for (const char byte : bytes) {
    text += hex_digits[static_cast<unsigned char>(byte) >> 4];
    text += hex_digits[static_cast<unsigned char>(byte) & 0xF];
  }
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 64;  // no name that the library knows is longer
  if (word.size() > longest) return {};
  const auto plain = spelled_plainly(word);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, plain.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(plain, spelled_plainly(candidate));
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = nearest(word, candidates);
  return near.empty() ? std::string{} : "; did you mean " + near + "?";
}

}  // namespace rowlock::model
