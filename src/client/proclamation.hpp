// The stored form of a proclamation: the token of the term, and then the value. So a new term begins without
// one, and the fast paths need not clear it.
#pragma once

#include "model/lock.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::client_layer {

inline std::string proclaimed_by(model::token term, std::string_view value) {
  return std::to_string(term) + ' ' + std::string{value};
}

// Empty: nothing was proclaimed in that term.
inline std::string proclaimed_in(model::token term, const std::optional<std::string>& stored) {
  if (!stored) return {};
  model::token whose = 0;
  const auto* end = stored->data() + stored->size();
  const auto read = std::from_chars(stored->data(), end, whose);
  if (read.ec != std::errc{} || whose != term || read.ptr == end) return {};
  return {read.ptr + 1, end};
}

}  // namespace rowlock::client_layer
