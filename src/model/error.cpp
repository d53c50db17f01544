#include <rowlock/error.hpp>

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

const char* to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::mismatch: return "mismatch";
    case errc::unreachable: return "unreachable";
    case errc::authentication: return "authentication";
    case errc::privilege: return "privilege";
    case errc::read_only: return "read_only";
    case errc::not_migrated: return "not_migrated";
    case errc::too_new: return "too_new";
    case errc::cancelled: return "cancelled";
    case errc::broken_barrier: return "broken_barrier";
    case errc::hold_lost: return "hold_lost";
    case errc::deadlock: return "deadlock";
    case errc::closed: return "closed";
    case errc::forked: return "forked";
    case errc::contention: return "contention";
    case errc::schema: return "schema";
    case errc::database: return "database";
    case errc::internal: return "internal";
  }
  return "unknown";
}

error::error(errc code, const std::string& message, std::string database_code, bool outcome_unknown)
    : std::runtime_error(message),
      code_(code),
      outcome_unknown_(outcome_unknown),
      database_code_(std::move(database_code)) {}

error::~error() = default;

bool error::transient() const noexcept {
  switch (code_) {
    case errc::unreachable:
    case errc::read_only:
    case errc::broken_barrier:
    case errc::contention: return true;
    default: return outcome_unknown_;
  }
}

ROWLOCK_END_NAMESPACE
