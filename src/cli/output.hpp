// What the subcommands print: JSON for programs; holders and findings in words for people.
#pragma once

#include <rowlock/admin.hpp>
#include <rowlock/doctor.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::cli {

// The members of an object stay in the order in which they were added.
using json = nlohmann::ordered_json;

json to_json(const lock_info& lock);
json to_json(const waiter_info& waiter);
json to_json(const history_line& line);
json to_json(const finding& one);

// The text over several lines. Invalid UTF-8 becomes U+FFFD, so that the text is always valid JSON. Control characters
// are escaped.
std::string json_text(const json& value);

// The text on one line, escaped in the same way.
std::string json_line(const json& value);

// Prints an array of these and a line break. --json always prints one array.
void print_json(const std::vector<json>& elements);

// Prints such an array element by element, if it may be too long to keep.
class json_printer {
 public:
  void add(const json& element);
  void finish();  // exactly once

 private:
  bool is_empty_ = true;
};

// "user@host:123 application: command", as far as these are known. A command that equals the application is left out.
std::string who_text(const std::string& user, const std::string& host, std::int64_t pid,
                     const std::string& application, const std::string& command);

// The holder as who_text() describes it. "(expired)" follows if its lease has expired. "(rests)" stands for a lock that
// nobody holds while its delay or minimum hold time is not over.
std::string holder_text(const holder_info& holder);
bool is_expired(const holder_info& holder);

// Whether the lock is in use although no holder has a lease. The next request frees it.
bool is_held_by_the_dead(const lock_info& lock);

// This machine's time after that delay, in UTC: "2026-11-23T12:30:00Z".
std::string time_text(std::chrono::milliseconds from_now);

// The findings of the doctor: a block for each, and a line that counts them. Checks that could not be made share one
// block, because they usually lack the same right.
std::string findings_text(const std::vector<finding>& findings);

}  // namespace rowlock::cli
