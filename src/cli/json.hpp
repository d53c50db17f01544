// Output for programs: --json always prints one array.
#pragma once

#include <rowlock/admin.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rowlock::cli {

// A value to print. Only json.cpp includes nlohmann's JSON, which takes long to compile.
class json {
 public:
  using array = std::vector<json>;
  using object = std::vector<std::pair<std::string, json>>;  // in this order

  json(bool value) : value_{value} {}
  json(std::integral auto value) : value_{static_cast<std::int64_t>(value)} {}
  json(const std::convertible_to<std::string_view> auto& text) : value_{std::string{text}} {}
  json(array values) : value_{std::move(values)} {}
  json(object members) : value_{std::move(members)} {}

  const auto& value() const { return value_; }

 private:
  std::variant<bool, std::int64_t, std::string, array, object> value_;
};

json::object to_json(const lock_info& lock);
json::object to_json(const waiter_info& waiter);

// One array, over several lines. Invalid UTF-8 becomes U+FFFD, so that the text is always valid JSON. Control
// characters are escaped.
std::string json_text(const json::array& values);

// One object on one line, escaped in the same way.
std::string json_line(const json::object& members);

// Prints such an array element by element, if it may be too long to keep.
class json_printer {
 public:
  void add(const json::object& element);
  void finish();  // exactly once

 private:
  bool is_empty_ = true;
};

// Prints the text and a line break.
void print_json(const json::array& values);

}  // namespace rowlock::cli
