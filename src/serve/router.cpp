#include "serve/router.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

namespace rowlock::serve {

namespace {

// "/a/b" has the parts "a" and "b", and "/" the part "".
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const auto end = path.find('/');
    parts.emplace_back(path.substr(0, end));
    if (end == path.npos) break;
    path.remove_prefix(end);
  }
  return parts;
}

bool is_word(const std::string& part) {
  return part.starts_with('{') && part.ends_with('}');
}

// Empty: the path does not match.
std::optional<std::map<std::string, std::string>> words_of(const std::vector<std::string>& path,
                                                           const std::vector<std::string>& pattern) {
  if (path.size() != pattern.size()) return {};
  std::map<std::string, std::string> words;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto part = percent_decoded(path[i]);
    if (!part) return {};
    if (is_word(pattern[i])) {
      if (part->empty()) return {};
      words[pattern[i].substr(1, pattern[i].size() - 2)] = *part;
    } else if (*part != pattern[i]) {
      return {};
    }
  }
  return words;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const auto digits = text.substr(i + 1, 2);
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || failure != std::errc{} || end != digits.data() + 2) return {};
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

void router::add(const std::string& method, const std::string& pattern, std::optional<role> needs,
                 handler answer) {
  if (method == "GET" && needs && *needs != role::read) throw std::logic_error("an action by GET");
  routes_.push_back({method, parts_of(pattern), needs, std::move(answer)});
}

void router::add_probe(const std::string& path, handler answer) {
  routes_.push_back({"GET", parts_of(path), {}, std::move(answer), true});
}

router::match router::find(std::string_view method, std::string_view path) const {
  const auto parts = parts_of(path);
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  match result;
  for (const auto& one : routes_) {
    auto words = words_of(parts, one.pattern);
    if (!words) continue;
    if (one.method == wanted) return {.found = &one, .words = std::move(*words), .allowed = {}};
    result.allowed +=
        (result.allowed.empty() ? "" : ", ") + one.method + (one.method == "GET" ? ", HEAD" : "");
  }
  return result;
}

}  // namespace rowlock::serve
