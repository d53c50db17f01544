// Describes holders in words.
#pragma once

#include <rowlock/admin.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rowlock::cli {

// "user@host:123 application: command", as far as it is known. A command that equals the application is left out.
std::string who_text(const std::string& user, const std::string& host, std::int64_t pid,
                     const std::string& application, const std::string& command);

// As who_text; "(rests)" while nobody holds the lock and its delay or minimum hold time is not over; "(expired)"
// follows a holder whose lease has expired.
std::string holder_text(const holder_info& holder);
bool rests(const holder_info& holder);
bool is_expired(const holder_info& holder);

// It is in use, but no holder has a lease. The next request frees it.
bool is_held_by_the_dead(const lock_info& lock);

// This machine's time after that delay, in UTC: "2026-11-23T12:30:00Z".
std::string time_text(std::chrono::milliseconds from_now);

}  // namespace rowlock::cli
