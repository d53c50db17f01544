// A batch as the text of a JSON array, for JSON_TABLE.
#pragma once

#include "model/ids.hpp"
#include "model/text.hpp"

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

// A row of several values is an array; a single value is not. Free text is sent in hex: nothing needs to be
// escaped, and nothing is read in a character set.
class mysql_json {
 public:
  template <class... Values>
  void add(const Values&... values) {
    if (!empty()) text_ += ',';
    if constexpr (sizeof...(values) > 1) text_ += '[';
    std::string_view separator;
    ((text_ += separator, append(values), separator = ","), ...);
    if constexpr (sizeof...(values) > 1) text_ += ']';
  }

  bool empty() const noexcept { return text_.size() == 1; }
  std::string str() const { return text_ + ']'; }

 private:
  // Free text.
  void append(const std::string& bytes) {
    text_ += '"';
    model::append_hex(text_, bytes);
    text_ += '"';
  }
  // A word that needs no escape: a kind, hex digits.
  void append(std::string_view word) { text_.append(1, '"').append(word).append(1, '"'); }
  void append(const char* word) { append(std::string_view{word}); }
  void append(std::integral auto number) { text_ += std::to_string(number); }
  template <class Rep, class Period>
  void append(std::chrono::duration<Rep, Period> time) {
    append(time.count());
  }
  void append(const model::id128& id) { append(std::string_view{id.to_string()}); }
  template <class Id>
  void append(const std::optional<Id>& id) {
    append(std::string_view{id ? id->to_string() : std::string{}});
  }

  std::string text_ = "[";
};

}  // namespace rowlock::store
