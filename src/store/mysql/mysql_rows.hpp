// Rows of a result, as texts, and their fields as values of the model.
#pragma once

#include "model/ids.hpp"
#include "store/store.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::store {

using mysql_field = std::optional<std::string>;
using mysql_row = std::vector<mysql_field>;
using mysql_rows = std::vector<mysql_row>;

template <class Id>
Id id_of(const mysql_field& field) {
  return Id::parse(field.value());
}

template <class Id>
std::optional<Id> optional_id_of(const mysql_field& field) {
  if (!field) return {};
  return Id::parse(*field);
}

// The server may write a whole number with a point, as in 7.0000.
inline std::int64_t integer_of(const mysql_field& field) {
  std::int64_t value = 0;
  const auto& text = field.value();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

inline bool bool_of(const mysql_field& field) {
  return field && integer_of(field) != 0;
}

inline std::string text_of(const mysql_field& field) {
  return field.value_or(std::string{});
}

}  // namespace rowlock::store
