// The data of holds, as it is stored. A permit's data has a column of its own and is deleted with the permit.
// The data of an exclusive hold is in the lock's row, after the hold's token. So a new hold has no data, and
// the fast paths neither read nor write any.
#pragma once

#include "model/lock.hpp"
#include "store/admin_verbs.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::client_layer {

inline std::string with_token(model::token held, std::string_view text) {
  return std::to_string(held) + ' ' + std::string{text};
}

// The data of the hold with that token. Empty: it has none.
inline std::string said_under(model::token held, const std::optional<std::string>& stored) {
  if (!stored) return {};
  model::token whose = 0;
  const auto* end = stored->data() + stored->size();
  const auto read = std::from_chars(stored->data(), end, whose);
  if (read.ec != std::errc{} || whose != held || read.ptr == end) return {};
  return {read.ptr + 1, end};
}

// While a lock rests, its row still has the text of the hold that has ended.
inline std::string data_of(const store::holder_info& holder) {
  if (model::rests(holder.hold, holder.lease.id)) return {};
  return holder.mode == model::lock_mode::exclusive ? said_under(holder.token, holder.data)
                                                    : holder.data.value_or("");
}

}  // namespace rowlock::client_layer
