#include "model/lock.hpp"

#include <array>

namespace rowlock::model {

namespace {

constexpr std::array known_kinds{lock_kind::mutex, lock_kind::shared_mutex, lock_kind::semaphore,
                                 lock_kind::latch, lock_kind::barrier,      lock_kind::election};

}  // namespace

lock_kind parse_lock_kind(std::string_view text) noexcept {
  for (const auto kind : known_kinds) {
    if (text == to_string(kind)) return kind;
  }
  return lock_kind::unknown;
}

lock_mode parse_lock_mode(std::string_view text) noexcept {
  return text == "shared" ? lock_mode::shared : lock_mode::exclusive;
}

lock_definition definition_of(const lock_row& row) {
  return {row.name, row.kind, row.capacity, row.fair, row.delay};
}

bool is_same_lock(const lock_definition& asked, const lock_definition& stored) noexcept {
  return asked.kind == stored.kind && asked.capacity == stored.capacity && asked.fair == stored.fair;
}

}  // namespace rowlock::model

ROWLOCK_BEGIN_NAMESPACE

const char* to_string(lock_kind kind) noexcept {
  switch (kind) {
    case lock_kind::mutex: return "mutex";
    case lock_kind::shared_mutex: return "shared_mutex";
    case lock_kind::semaphore: return "semaphore";
    case lock_kind::latch: return "latch";
    case lock_kind::barrier: return "barrier";
    case lock_kind::election: return "election";
    case lock_kind::unknown: break;
  }
  return "unknown";
}

const char* to_string(lock_mode mode) noexcept {
  return mode == lock_mode::shared ? "shared" : "exclusive";
}

ROWLOCK_END_NAMESPACE
