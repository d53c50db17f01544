// Holders in words.
#pragma once

#include <rowlock/admin.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rowlock::cli {

// "user@host:123 application: command", as far as it is known. A command that is the application is not repeated.
std::string who_text(const std::string& user, const std::string& host, std::int64_t pid,
                     const std::string& application, const std::string& command);

// As who_text; "(rests)" if nobody holds the lock until its delay or minimum hold time is over;
// "(expired)" behind a holder whose lease has expired.
std::string holder_text(const holder_info& holder);
bool rests(const holder_info& holder);
bool is_expired(const holder_info& holder);

// It is in use, but no holder has a lease. The next request for it frees it.
bool is_held_by_the_dead(const lock_info& lock);

// This machine's time, so much later, in UTC: "2026-11-23T12:30:00Z".
std::string time_text(std::chrono::milliseconds from_now);

}  // namespace rowlock::cli
