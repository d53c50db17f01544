// Checks of what a caller may pass: names, prefixes, durations. Each throws error(invalid_argument), and the
// message says what was given, what is expected and why.
#pragma once

#include <rowlock/config.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::model {

// I11: UTF-8, 1 to 512 bytes, no control characters.
void check_name(std::string_view name);

// A text that others read: the data of a hold, or the reason of a release request. UTF-8, at most 4096 bytes, no NUL.
void check_value(std::string_view value);

// The application that a client gives: UTF-8, at most 255 bytes, no control characters; may be empty.
void check_application(std::string_view application);

// The text without control characters and without bytes that are not UTF-8. For a text that the system gave: a
// program's name may be cut inside a character.
std::string printable(std::string_view text);

// Accepts [a-z_][a-z0-9_]{0,30}, and of the prefixes those that make no table's name a reserved word. what: "prefix" or
// "schema".
void check_identifier(std::string_view what, std::string_view value);

// A ttl that can be renewed: from 1 second to 24 hours, and at least twice the renewal interval. A longer ttl is more
// likely a mistaken unit than intended.
void check_ttl(std::chrono::milliseconds ttl, std::chrono::milliseconds renew_interval);

// An explicit ttl, which nobody renews: from 100 milliseconds to 24 hours.
void check_explicit_ttl(std::chrono::milliseconds ttl);

// The options of an acquire: an explicit ttl, if any, and a minimum hold time, which must fit into that ttl.
void check_hold_times(std::optional<std::chrono::milliseconds> explicit_ttl,
                      std::chrono::milliseconds min_hold);

// How long a caller that requests a release waits for the holders: 0 to 24 hours.
void check_request_time(std::chrono::milliseconds within);

// How long a lock rests after a loss: 0 to 24 hours.
void check_delay(std::chrono::milliseconds delay);

}  // namespace rowlock::model
