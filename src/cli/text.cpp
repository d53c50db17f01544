#include "cli/text.hpp"

#include "model/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>

namespace rowlock::cli {

namespace {

using std::chrono::milliseconds;

struct unit {
  std::string_view suffix;
  std::int64_t milliseconds;
};

constexpr std::array<unit, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

// Ten years; the library refuses longer waits too.
constexpr std::int64_t longest_duration = 3'652 * units[0].milliseconds;

[[noreturn]] void refuse_duration(std::string_view what, std::string_view text, std::string_view why) {
  throw error(
      errc::invalid_argument,
      fmt::format("{} '{}' {}; write a whole number and a unit: 500ms, 30s, 1m, 2h or 1d", what, text, why));
}

// Characters that reorder, hide or break a line: the bidirectional controls, zero-width and invisible ones
// (soft hyphen, annotations, tags), line separators.
bool misleads(char32_t code) {
  return (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || code == 0x61C || code == 0xAD ||
         code == 0x180E || (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE007F);
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

constexpr std::string_view space = " \t\n\v\f\r";

// Replaces the text between the first ':' and the last '@' of a URL's word, because both the user's name and the
// password may contain '@'. Does not use a regular expression, because the standard library's overflows the stack on
// long words.
std::string hide_in_urls(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  std::size_t word_end = 0;                      // of the word that was looked at last
  std::size_t last_at = std::string_view::npos;  // its last '@'
  for (auto mark = text.find("://"); mark != std::string_view::npos; mark = text.find("://", mark)) {
    mark += 3;
    const auto colon = std::min(text.find_first_of("/: \t\n\v\f\r", mark), text.size());
    if (colon == text.size() || text[colon] != ':') continue;
    if (colon >= word_end) {
      word_end = std::min(text.find_first_of(space, colon), text.size());
      last_at = text.substr(0, word_end).rfind('@');
    }
    if (last_at == std::string_view::npos || last_at <= colon) continue;
    result += text.substr(done, colon + 1 - done);
    result += "***";
    done = mark = last_at;
  }
  return result += text.substr(done);
}

// The position after the value of a parameter that begins there.
std::size_t end_of_value(std::string_view text, std::size_t from) {
  if (from == text.size() || text[from] != '\'')
    return std::min(text.find_first_of(" \t\n\v\f\r&'\"", from), text.size());
  for (std::size_t at = from + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '\'') {
      return at + 1;
    }
  }
  return text.size();  // a quote without an end: the rest may be the password
}

// Replaces the value in `password=value` and `password = 'value'`.
std::string hide_in_parameters(std::string_view text) {
  constexpr std::string_view key = "password";
  const auto same = [](char c, char wanted) { return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == wanted; };
  std::string result;
  std::size_t done = 0;
  while (true) {
    const auto* const found = std::search(text.begin() + done, text.end(), key.begin(), key.end(), same);
    if (found == text.end()) return result += text.substr(done);
    auto at = static_cast<std::size_t>(found - text.begin()) + key.size();
    at = std::min(text.find_first_not_of(space, at), text.size());
    if (at < text.size() && text[at] == '=') {
      at = std::min(text.find_first_not_of(space, at + 1), text.size());
      const auto end = end_of_value(text, at);
      result += text.substr(done, at - done);
      if (end > at) result += "***";
      done = end;
    } else {
      result += text.substr(done, at - done);
      done = at;
    }
  }
}

}  // namespace

milliseconds parse_duration(std::string_view what, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::result_out_of_range) refuse_duration(what, text, "is too long");
  if (failure != std::errc{}) refuse_duration(what, text, "is not a duration");
  if (number < 0) refuse_duration(what, text, "is negative");

  const auto suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  if (suffix.empty()) {
    if (number == 0) return milliseconds{0};
    refuse_duration(what, text, "has no unit");
  }
  for (const auto& [name, factor] : units) {
    if (suffix != name) continue;
    if (number > longest_duration / factor) refuse_duration(what, text, "is longer than ten years");
    return milliseconds{number * factor};
  }
  refuse_duration(what, text, "has an unknown unit");
}

std::string format_duration(milliseconds value) {
  const std::string_view sign = value.count() < 0 ? "-" : "";
  const auto amount = std::abs(value.count());
  for (const auto& [suffix, factor] : units) {
    if (amount < factor || factor == 1) continue;
    const auto tenths = amount * 10 / factor;
    if (tenths % 10 == 0) return fmt::format("{}{}{}", sign, tenths / 10, suffix);
    return fmt::format("{}{}.{}{}", sign, tenths / 10, tenths % 10, suffix);
  }
  return fmt::format("{}{}ms", sign, amount);
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [code, length] = model::first_character(text);
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (model::is_control(code)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
    } else if (misleads(code)) {
      result += fmt::format("\\u{{{:04x}}}", static_cast<unsigned>(code));
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string without_passwords(std::string_view text) {
  return hide_in_parameters(hide_in_urls(text));
}

std::string one_line(std::string_view message) {
  auto line = without_passwords(message);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return printable(line);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  return table(rows, widths, std::string::npos);
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::vector<std::size_t>& widths,
                  std::size_t longest) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(printable(row[i]));
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], width(line[i]));
    }
  }
  if (!widths.empty()) {
    constexpr std::size_t least = 12;
    std::size_t others = 0;
    for (std::size_t i = 1; i < widths.size(); ++i) others += widths[i] + 2;
    const auto room = std::max(least, longest > others ? longest - others : 0);
    widths[0] = std::min(widths[0], room);
    for (auto& line : cells) line[0] = cut(line[0], widths[0]);
  }
  // A name may have 512 characters. It makes its own row that long, and no other.
  constexpr std::size_t widest = 64;
  std::string result;
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      const auto padded = std::min(widths[i], widest);
      text.append(padded - std::min(padded, width(line[i])) + 2, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    result += text + '\n';
  }
  return result;
}

std::string cut(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t left = most - 3; left > 0; --left)
    end += model::first_character(std::string_view{text}.substr(end)).length;
  return text.substr(0, end) + "...";
}

std::string count_of(long long number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace rowlock::cli
