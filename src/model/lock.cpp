#include "model/lock.hpp"

#include <rowlock/error.hpp>

namespace rowlock::model {

std::string_view to_string(lock_kind kind) noexcept {
  switch (kind) {
    case lock_kind::mutex: return "mutex";
  }
  return "unknown";
}

lock_kind parse_lock_kind(std::string_view text) {
  if (text == "mutex") return lock_kind::mutex;
  throw error(errc::mismatch, "the lock is stored as a \"" + std::string{text} +
                                  "\", a kind that this version of rowlock does not know");
}

}  // namespace rowlock::model
