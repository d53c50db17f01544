#include "model/lock.hpp"

namespace rowlock::model {

std::string_view to_string(lock_kind kind) noexcept {
  switch (kind) {
    case lock_kind::mutex: return "mutex";
    case lock_kind::unknown: break;
  }
  return "unknown";
}

lock_kind parse_lock_kind(std::string_view text) noexcept {
  return text == "mutex" ? lock_kind::mutex : lock_kind::unknown;
}

}  // namespace rowlock::model
