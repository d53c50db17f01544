// A history: what processes invoked, were answered, and lost, as lines of JSON. docs/correctness.md, "The history
// checker", describes the format.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rowlock::history {

enum class event_kind { invoke, ok, fail, lost, info };
const char* to_string(event_kind kind) noexcept;

struct event {
  event_kind kind = event_kind::info;
  std::string op;          // acquire, release, queue, state; others are kept for the reader
  std::int64_t time = 0;   // CLOCK_BOOTTIME, nanoseconds
  std::int64_t since = 0;  // of info: when the reading began; otherwise `time`
  std::string wall;        // for the reader
  std::string process;
  std::string actor;      // a thread, or whatever makes one call at a time
  std::int64_t call = 0;  // joins an invocation and its answer, within an actor
  std::string name;
  std::string hold;
  std::optional<std::int64_t> ticket;
  std::optional<std::int64_t> token;
  std::string mode = "exclusive";
  std::int64_t weight = 1;
  std::int64_t capacity = 1;
  bool fair = true;
  std::int64_t ttl_ms = 30'000;
  std::string reason;                // of a loss
  std::vector<std::string> holders;  // of info "state": the ids that the database shows
  std::vector<std::string> waiters;
  std::string file;  // where it was read
  std::size_t line = 0;
};

class bad_history : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Adds the events of one file. Empty lines are skipped. An incomplete last line is one that a killed process was
// writing, and is skipped too. Throws bad_history, which names the file and the line.
void read_events(std::istream& from, const std::string& file, std::vector<event>& to);

// In order of time.
void sort_events(std::vector<event>& events);

}  // namespace rowlock::history
