// Holders in words.
#pragma once

#include <rowlock/admin.hpp>

#include <chrono>
#include <string>

namespace rowlock::cli {

// "host:123 application"; "(rests)" if nobody holds the lock until its delay or minimum hold time is over;
// "(expired)" behind a holder whose lease has expired.
std::string holder_text(const holder_info& holder);
bool rests(const holder_info& holder);
bool is_expired(const holder_info& holder);

// It is in use, but no holder has a lease. The next request for it frees it.
bool is_held_by_the_dead(const lock_info& lock);

// This machine's time, so much later, in UTC: "2026-11-23T12:30:00Z".
std::string time_text(std::chrono::milliseconds from_now);

}  // namespace rowlock::cli
