#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>

// Imports this process's part when all processes have arrived, and returns when all are done. False: one of
// them did not arrive in time, gave up or died; the others learn of it, too.
bool import_together(rowlock::client db, std::int64_t processes, std::chrono::milliseconds patience,
                     const std::function<void()>& import_part) {
  rowlock::barrier phase{db, "import/phase", processes};
  try {
    if (!phase.arrive_and_wait_for(patience)) return false;
    import_part();
    return phase.arrive_and_wait_for(patience).has_value();
  } catch (const rowlock::error& failure) {
    if (failure.code() == rowlock::errc::broken_barrier) return false;
    throw;
  }
}
