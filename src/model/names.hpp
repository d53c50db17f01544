// What a caller may pass: names, prefixes, durations. Each check throws error(invalid_argument) whose
// message says what was given, what is expected and why.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace rowlock::model {

// I11: UTF-8, 1 to 512 bytes, no control characters.
void check_name(std::string_view name);

// What is proclaimed: UTF-8, at most 4096 bytes, no NUL.
void check_value(std::string_view value);

// What a client calls itself: UTF-8, at most 255 bytes, no control characters; may be empty.
void check_application(std::string_view application);

// Of a text that the system gave (a program's name may be cut inside a character): what of it is UTF-8 and no
// control character.
std::string printable(std::string_view text);

// [a-z_][a-z0-9_]{0,30}. what: "prefix" or "schema".
void check_identifier(std::string_view what, std::string_view value);

// A ttl that can be renewed: from 1 second to 24 hours, at least twice the renewal interval plus the margin.
// Durations beyond that are more likely a wrong unit than a wish.
void check_ttl(std::chrono::milliseconds ttl, std::chrono::milliseconds renew_interval);

// An explicit ttl, which nobody renews: from 100 milliseconds to 24 hours.
void check_explicit_ttl(std::chrono::milliseconds ttl);

// What an acquire asks for: an explicit ttl, or 0; a minimum time of holding, or 0, which such a ttl covers.
void check_hold_times(std::chrono::milliseconds explicit_ttl, std::chrono::milliseconds min_hold);

// How long whoever asks for a lock waits for its holders: 0 to 24 hours.
void check_request_time(std::chrono::milliseconds within);

// How long a lock rests after a loss: up to 24 hours.
void check_delay(std::chrono::milliseconds delay);

}  // namespace rowlock::model
