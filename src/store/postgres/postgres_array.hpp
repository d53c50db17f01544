// Formats a statement's arguments as text, and the columns of a batch as arrays.
#pragma once

#include "store/sql_value.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rowlock::store {

inline std::string postgres_text(std::string_view value) {
  return std::string{value};
}
inline std::string postgres_text(std::integral auto value) {
  if constexpr (std::same_as<decltype(value), bool>) {
    return value ? "t" : "f";
  } else {
    return std::to_string(value);
  }
}
template <class Rep, class Period>
std::string postgres_text(std::chrono::duration<Rep, Period> value) {
  return std::to_string(value.count());
}
// An id or an array.
template <class Value>
requires requires(const Value& value) {
  value.to_string();
}
std::string postgres_text(const Value& value) {
  return value.to_string();
}

inline std::vector<std::string> postgres_texts(sql_values values) {
  std::vector<std::string> texts;
  for (const auto& given : values) {
    texts.push_back(std::visit([](const auto& value) { return postgres_text(value); }, given.value));
  }
  return texts;
}

class postgres_array {
 public:
  // Texts are quoted.
  void add(std::string_view value) {
    append([&] {
      text_ += '"';
      for (const char c : value) {
        if (c == '"' || c == '\\') text_ += '\\';
        text_ += c;
      }
      text_ += '"';
    });
  }
  template <class Value>
  requires(!std::convertible_to<Value, std::string_view>) void add(const Value& value) {
    append([&] { text_ += postgres_text(value); });
  }
  template <class Value>
  void add(const std::optional<Value>& value) {
    if (value) return add(*value);
    append([&] { text_ += "NULL"; });
  }

  bool empty() const noexcept { return text_.empty(); }
  // shortened: one value alone, if all are the same.
  std::string to_string(bool shortened = false) const {
    return '{' + (shortened && is_uniform_ ? text_.substr(0, first_size_) : text_) + '}';
  }

 private:
  template <class Write>
  void append(Write write) {
    const bool is_first = empty();
    if (!is_first) text_ += ',';
    const auto begin = text_.size();
    write();
    if (is_first) {
      first_size_ = text_.size();
    } else {
      const std::string_view all{text_};
      is_uniform_ = is_uniform_ && all.substr(begin) == all.substr(0, first_size_);
    }
  }

  std::string text_;
  std::size_t first_size_ = 0;
  bool is_uniform_ = true;
};

// Rows of values, as an array for each column.
template <std::size_t Columns>
class postgres_batch {
 public:
  template <class... Values>
  requires(sizeof...(Values) == Columns) void add(const Values&... values) {
    std::size_t column = 0;
    (columns_[column++].add(values), ...);
  }
  const std::array<postgres_array, Columns>& columns() const noexcept { return columns_; }
  // The columns as arguments of a statement that takes a column with one value for a column that has it in every row:
  // most requests of a batch are alike, and the server need not parse the same value for each.
  std::array<std::string, Columns> shortened() const {
    std::array<std::string, Columns> texts;
    for (std::size_t i = 0; i < Columns; ++i) texts[i] = columns_[i].to_string(true);
    return texts;
  }
  bool empty() const noexcept { return columns_[0].empty(); }

 private:
  std::array<postgres_array, Columns> columns_;
};

}  // namespace rowlock::store
