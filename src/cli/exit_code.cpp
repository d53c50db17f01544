#include "cli/exit_code.hpp"

namespace rowlock::cli {

int exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
    case errc::mismatch: return usage;
    case errc::unreachable:
    case errc::read_only:
    case errc::contention: return unavailable;
    case errc::authentication:
    case errc::privilege: return no_permission;
    case errc::not_migrated:
    case errc::too_new:
    case errc::schema: return wrong_schema;
    case errc::cancelled:
    case errc::broken_barrier: return busy;
    case errc::hold_lost: return hold_lost;
    case errc::deadlock:
    case errc::closed:
    case errc::forked:
    case errc::database:
    case errc::internal: return software;
  }
  return software;
}

}  // namespace rowlock::cli
