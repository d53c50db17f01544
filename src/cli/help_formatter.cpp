#include "cli/help_formatter.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::cli {

namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t left_width = 30;  // with the two spaces before and behind it

// Lines of at most this width. A line break of the text stays.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream parts{text};
  for (std::string part; std::getline(parts, part);) {
    std::string line;
    std::istringstream words{part};
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > width) lines.push_back(std::exchange(line, {}));
      line += (line.empty() ? "" : " ") + word;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string row(const std::string& left, const std::string& right) {
  auto head = "  " + left;
  std::string result;
  if (head.size() + 2 > left_width || right.empty()) {
    result = head + '\n';
    head.clear();
  }
  for (const auto& line : wrapped(right, line_width - left_width)) {
    head.resize(left_width, ' ');
    result += head + line + '\n';
    head.clear();
  }
  return result;
}

// "DURATION" of "DURATION:a check".
std::string value_of(const CLI::Option& one) {
  const auto type = one.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string names_of(const CLI::Option& one) {
  auto names = one.get_name(false, true);
  if (const auto comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
  return names;
}

}  // namespace

// CLI11 does not know of the words after "--".
std::string help_formatter::make_usage(const CLI::App* app, std::string name) const {
  auto usage = CLI::Formatter::make_usage(app, std::move(name));
  if (!runs_command(app->get_name())) return usage;
  return usage.insert(usage.find_last_not_of('\n') + 1, " -- COMMAND [ARGUMENT ...]");
}

std::string help_formatter::make_option(const CLI::Option* one, bool is_positional) const {
  auto right = one->get_description();
  // The usage shows that of a word that is no option.
  if (one->get_required() && !is_positional) right += "; required";
  if (!one->get_default_str().empty()) right += fmt::format(" (default {})", one->get_default_str());
  if (!one->get_envname().empty()) right += fmt::format("; also {}", one->get_envname());
  if (is_positional) return row(one->get_name(true), right);
  const auto value = value_of(*one);
  return row(names_of(*one) + (value.empty() ? "" : ' ' + value), right);
}

std::string help_formatter::make_subcommand(const CLI::App* one) const {
  return row(one->get_name(), one->get_description());
}

}  // namespace rowlock::cli
