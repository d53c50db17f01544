// A batch's column as the text of a PostgreSQL array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

class postgres_array {
 public:
  // Free text: quoted.
  void add_text(std::string_view value) {
    next();
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }
  // What needs no quotes: ids, kinds.
  void add_word(std::string_view value) {
    next();
    text_ += value;
  }
  void add(std::int64_t value) { add_word(std::to_string(value)); }
  void add(bool value) { add_word(value ? "t" : "f"); }
  template <class Id>
  void add_id(const Id& value) {
    add_word(value.to_string());
  }
  template <class Id>
  void add_id(const std::optional<Id>& value) {
    add_word(value ? value->to_string() : "NULL");
  }

  bool empty() const noexcept { return text_.size() == 1; }
  std::string str() const { return text_ + '}'; }

 private:
  void next() {
    if (!empty()) text_ += ',';
  }

  std::string text_ = "{";
};

}  // namespace rowlock::store
