// The clock of rowlock's statements on SQLite, for tests that compare with what the store has written.
#pragma once

namespace rowlock::test {

// Whole milliseconds, as microseconds since 1970.
inline constexpr char sqlite_now_us[] =
    "(CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000)";

}  // namespace rowlock::test
