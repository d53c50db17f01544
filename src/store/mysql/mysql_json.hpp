// A batch as the text of a JSON array, for JSON_TABLE.
#pragma once

#include "store/mysql/mysql_hex.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

// Elements of one row stand in an array of their own; a batch of single values has none around them. Free
// text and ids are sent in hex: nothing needs to be escaped, and nothing is read in a character set.
class mysql_json {
 public:
  mysql_json& row() {
    next();
    text_ += '[';
    inside_ = true;
    first_ = true;
    return *this;
  }
  mysql_json& end_row() {
    text_ += ']';
    inside_ = false;
    return *this;
  }
  mysql_json& hex(std::string_view bytes) {
    next();
    text_ += '"';
    append_hex(text_, bytes);
    text_ += '"';
    return *this;
  }
  // What needs no escape: kinds, digits.
  mysql_json& word(std::string_view value) {
    next();
    text_ += '"';
    text_ += value;
    text_ += '"';
    return *this;
  }
  mysql_json& number(std::int64_t value) {
    next();
    text_ += std::to_string(value);
    return *this;
  }
  template <class Id>
  mysql_json& id(const Id& value) {
    return word(value.to_string());
  }
  template <class Id>
  mysql_json& id(const std::optional<Id>& value) {
    return word(value ? value->to_string() : std::string{});
  }

  bool empty() const noexcept { return text_.size() == 1; }
  std::string str() const { return text_ + ']'; }

 private:
  void next() {
    const bool separate = inside_ ? !first_ : !empty();
    if (separate) text_ += ',';
    first_ = false;
  }

  std::string text_ = "[";
  bool inside_ = false;
  bool first_ = true;
};

}  // namespace rowlock::store
