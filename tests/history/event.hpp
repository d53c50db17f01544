// A history: the calls of processes, the answers, and the losses, as lines of JSON. docs/correctness.md, "The history
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
  std::string op;          // acquire, release, queue, state; others are for human readers
  std::int64_t time = 0;   // CLOCK_BOOTTIME, nanoseconds
  std::int64_t since = 0;  // for info: when the reading began; otherwise `time`
  std::string wall;        // for human readers
  std::string process;
  std::string actor;      // a thread, or whatever makes one call at a time
  std::int64_t call = 0;  // an invocation and its answer have the same number, within an actor
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
  std::vector<std::string> holders;  // for info "state": the ids that the database shows
  std::vector<std::string> waiters;
  std::string file;  // the file that contains the event
  std::size_t line = 0;
};

class bad_history : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Adds the events of one file. Skips empty lines, and an incomplete last line, which a killed process was writing.
// Throws bad_history, which names the file and the line.
void read_events(std::istream& from, const std::string& file, std::vector<event>& to);

// Sorts the events by time.
void sort_events(std::vector<event>& events);

}  // namespace rowlock::history
