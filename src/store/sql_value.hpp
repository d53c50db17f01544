// The values of a statement, for code that serves all dialects.
#pragma once

#include "model/ids.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>

namespace rowlock::store {

// A value of a statement. MySQL's statements refer to it by its name (:name), the others by its place ($1,
// ?1). A text is not copied, so it must live as long as the sql_value.
struct sql_value {
  constexpr sql_value(std::string_view its_name, std::string_view text) : name{its_name}, value{text} {}
  constexpr sql_value(std::string_view its_name, const model::id128& id) : name{its_name}, value{id} {}
  constexpr sql_value(std::string_view its_name, std::integral auto number)
      : name{its_name}, value{static_cast<std::int64_t>(number)} {}
  template <class Rep, class Period>
  constexpr sql_value(std::string_view its_name, std::chrono::duration<Rep, Period> time)
      : sql_value{its_name, time.count()} {}

  std::string_view name;
  std::variant<std::string_view, std::int64_t, model::id128> value;
};

using sql_values = std::initializer_list<sql_value>;

}  // namespace rowlock::store
