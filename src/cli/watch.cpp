#include "cli/exit_code.hpp"
#include "cli/list.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

using std::chrono::milliseconds;

struct watch_words {
  listing_words listing;
  std::string interval = "2s";
};

// A lock that is new or has changed between two readings, or is gone.
struct lock_change {
  std::string name;
  const char* what;               // seen, changed or gone
  std::optional<lock_info> lock;  // as it is now; empty if it is gone
};

// A text of everything about the lock, except what changes only with the time.
std::string fingerprint(const lock_info& lock) {
  auto text = fmt::format("{} {} {} {}", lock.token.value(), lock.in_use, lock.capacity, lock.waiters);
  for (const auto& holder : lock.holders) {
    text += fmt::format(" {} {} {} {}", holder.hold_id.to_string(), holder.weight,
                        !holder.rests && is_expired(holder), std::hash<std::string>{}(holder.data));
  }
  return lock.request ? text + " " + lock.request->reason : text;
}

// "free", or who holds it since when, the data of the first holder, and who waits. Without durations, so that the text
// changes only with the lock.
std::string state_text(const lock_info& lock) {
  std::string text = "free";
  if (!lock.holders.empty()) {
    const auto& first = lock.holders.front();
    const auto others = lock.holders.size() - 1;
    text = first.rests ? "rests until " + time_text(first.expires_in)
                       : fmt::format("held by {} since {}, token {}", holder_text(first),
                                     time_text(-first.held_for), first.token.value());
    if (!first.data.empty()) text += fmt::format(", data \"{}\"", first.data);
    if (others > 0) text += fmt::format(", and by {} more", others);
  } else if (is_held_by_the_dead(lock)) {
    text = "held by a dead holder";
  } else if (lock.in_use > 0) {
    text = fmt::format("{} of {} used", lock.in_use, lock.capacity);
  }
  if (lock.waiters > 0) text += fmt::format(", {} waiting", lock.waiters);
  if (lock.request) text += ", release requested: " + lock.request->reason;
  return text;
}

// Finds what has changed between two readings of the locks. Keeps a short text of each lock, not the lock itself.
class lock_changes {
 public:
  // Takes a part of a reading. Returns the locks that are new or changed since the last reading. Durations
  // are no change.
  std::vector<lock_change> look_at(const std::vector<lock_info>& locks) {
    std::vector<lock_change> changes;
    for (const auto& lock : locks) {
      auto now = fingerprint(lock);
      const auto [found, is_new] = locks_.try_emplace(lock.name);
      auto& last = found->second;
      last.is_there = true;
      if (!is_new && last.state == now) continue;
      last.state = std::move(now);
      changes.push_back({lock.name, is_new ? "seen" : "changed", lock});
    }
    return changes;
  }

  // Call it after the last part of a reading. Returns the locks that the reading did not show.
  std::vector<lock_change> finish() {
    std::vector<lock_change> gone;
    for (auto at = locks_.begin(); at != locks_.end();) {
      if (std::exchange(at->second.is_there, false)) {
        ++at;
      } else {
        gone.push_back({at->first, "gone", {}});
        at = locks_.erase(at);
      }
    }
    return gone;
  }

 private:
  struct known {
    std::string state;
    bool is_there = true;  // in this reading
  };
  std::map<std::string, known> locks_;
};

// Shows one reading after the other.
class viewer {
 public:
  virtual ~viewer() = default;
  // Reads and shows the locks. Returns false if nobody reads the output any more.
  virtual bool look(admin& db) = 0;
  // Shows that a reading has failed. The next one follows.
  virtual void lost(const error& problem) = 0;
};

// A table that is redrawn with each reading.
class table_viewer final : public viewer {
 public:
  explicit table_viewer(const listing_words& words) : words_{words} {}

  bool look(admin& db) override {
    auto words = words_;
    const auto room = static_cast<std::int64_t>(std::max<std::size_t>(screen::rows(), 4) - 3);
    words.limit = words.limit == 0 ? room : std::min(room, words.limit);
    std::vector<std::vector<std::string>> rows{listing_heading()};
    read_listing(db, words, [&](const std::vector<lock_info>& locks) {
      for (const auto& lock : locks) rows.push_back(row_of(lock, rows.front()));
    });
    std::vector<std::size_t> widths;
    const auto text = table(rows, widths, screen::columns());
    table_.clear();
    for (std::size_t from = 0; from < text.size();) {
      const auto end = text.find('\n', from);
      table_.push_back(text.substr(from, end - from));
      from = end + 1;
    }
    if (rows.size() == 1) table_.emplace_back(words_.chooses() ? "no lock matches" : "there are no locks");
    draw("q: quit");
    return true;
  }

  void lost(const error& problem) override { draw(one_line(problem.what())); }

  screen& keys() { return screen_; }

 private:
  // Adds a column for data to the heading if a holder has data.
  static std::vector<std::string> row_of(const lock_info& lock, std::vector<std::string>& heading) {
    constexpr std::size_t longest_data = 30;
    auto row = listing_row(lock);
    if (lock.holders.empty() || lock.holders.front().data.empty()) return row;
    if (heading.size() == listing_heading().size()) heading.emplace_back("DATA");
    row.push_back(cut(printable(lock.holders.front().data), longest_data));
    return row;
  }

  void draw(const std::string& note) {
    std::vector<std::string> lines{fmt::format("rowlock {}  {}", time_text(milliseconds{0}), note), ""};
    lines.insert(lines.end(), table_.begin(), table_.end());
    screen_.draw(lines);
  }

  const listing_words& words_;
  std::vector<std::string> table_;  // of the latest reading that succeeded
  screen screen_;
};

// A line for each change.
class line_viewer final : public viewer {
 public:
  line_viewer(const context& global, const listing_words& words) : global_{global}, words_{words} {}

  bool look(admin& db) override {
    read_listing(db, words_, [&](const std::vector<lock_info>& locks) { print(changes_.look_at(locks)); });
    print(changes_.finish());
    if (std::exchange(is_lost_, false)) global_.note("the database answers again");
    if (is_output_written()) return true;
    if (errno == EPIPE) return false;
    throw error(errc::internal, "standard output cannot be written");
  }

  void lost(const error& problem) override {
    if (!std::exchange(is_lost_, true)) global_.print_to_stderr(problem.what());
  }

 private:
  void print(const std::vector<lock_change>& changes) {
    for (const auto& [name, what, lock] : changes) {
      const auto now = time_text(milliseconds{0});
      if (global_.json) {
        auto line = json::object({{"at", now}, {"change", what}, {"name", name}});
        if (lock) line["lock"] = to_json(*lock);
        put(json_line(line));
      } else {
        put(fmt::format("{}  {}  {}", now, printable(name), lock ? printable(state_text(*lock)) : "gone"));
      }
    }
  }
  // look() finds out whether the write failed.
  static void put(const std::string& line) { std::fputs((line + '\n').c_str(), stdout); }

  const context& global_;
  const listing_words& words_;
  lock_changes changes_;
  bool is_lost_ = false;
};

// Reads on a thread of its own, so that the user can leave even if a reading hangs.
class looker {
 public:
  looker(admin& db, viewer& shown, milliseconds interval)
      : done_{eventfd(0, EFD_CLOEXEC)}, thread_{[this, &db, &shown, interval](const std::stop_token& stop) {
          run(db, shown, interval, stop);
          const std::uint64_t one = 1;
          [[maybe_unused]] const auto written = ::write(done_, &one, sizeof one);
        }} {}
  ~looker() {
    finish();
    close(done_);
  }
  looker(const looker&) = delete;
  looker& operator=(const looker&) = delete;

  int descriptor() const { return done_; }  // readable when the thread has ended
  void ask_to_stop() { thread_.request_stop(); }
  bool ends_within(milliseconds limit) const {
    pollfd end{done_, POLLIN, 0};
    return poll(&end, 1, static_cast<int>(limit.count())) > 0;
  }
  // Waits for the reading that is under way. Returns the error that ended the thread, if one did.
  std::exception_ptr finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return failure_;
  }

 private:
  void run(admin& db, viewer& shown, milliseconds interval, const std::stop_token& stop) {
    try {
      for (bool is_read = true; is_read && !stop.stop_requested();) {
        try {
          is_read = shown.look(db);
        } catch (const error& problem) {
          if (stop.stop_requested()) return;  // the stop has interrupted the reading
          if (!problem.transient()) throw;
          shown.lost(problem);
        }
        if (is_read) pause_until(std::chrono::steady_clock::now() + interval, stop);
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  int done_;
  std::exception_ptr failure_;
  std::jthread thread_;  // the last member, because the thread uses the others
};

// Returns the exit code.
int wait_for_end(signal_queue& signals, const looker& looks, screen* keys) {
  for (;;) {
    pollfd watched[] = {{signals.descriptor(), POLLIN, 0},
                        {looks.descriptor(), POLLIN, 0},
                        // The reader of a pipe may leave although nothing changes.
                        {keys ? STDIN_FILENO : STDOUT_FILENO, static_cast<short>(keys ? POLLIN : 0), 0}};
    poll(watched, 3, -1);
    while (const auto signal = signals.take()) {
      if (*signal != SIGCHLD && *signal != SIGUSR1 && *signal != SIGUSR2) return by_signal + *signal;
    }
    if (watched[1].revents != 0)
      return by_signal + SIGPIPE;  // if an error ended the thread, the caller throws it
    if (keys && watched[2].revents != 0 && keys->asks_to_quit()) return success;
    if (!keys && (watched[2].revents & (POLLERR | POLLNVAL)) != 0) return by_signal + SIGPIPE;
  }
}

int watch_locks(const context& global, const watch_words& words) {
  const auto interval = parse_duration("--interval", words.interval);
  if (interval < milliseconds{100})
    throw error(errc::invalid_argument, "--interval " + words.interval + " is less than 100ms");
  // The signals are blocked before the client starts its threads, because a thread that does not block them would end
  // the process.
  signal_queue signals;
  auto client = global.connect_to_read();
  admin db{client};
  const bool has_screen = !global.json && screen::is_possible();
  std::optional<table_viewer> table;
  std::optional<line_viewer> lines;
  viewer& shown =
      has_screen ? static_cast<viewer&>(table.emplace(words.listing)) : lines.emplace(global, words.listing);
  looker looks{db, shown, interval};
  const int code = wait_for_end(signals, looks, table ? &table->keys() : nullptr);
  looks.ask_to_stop();
  client.close();  // ends a reading that hangs
  // Nothing ends a write to a pipe or a terminal that nobody reads, so the process ends with its thread in the write.
  if (!looks.ends_within(milliseconds{1000})) {
    if (table) table->keys().restore();
    std::_Exit(code);
  }
  const auto failure = looks.finish();
  table.reset();  // so that the error message appears on the original screen
  if (failure) std::rethrow_exception(failure);
  return code;
}

}  // namespace

void add_watch(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "watch",
      "Show locks as they change: a table in a terminal (q ends it), otherwise a line per change.",
      "rowlock watch 'billing/*' --held\n"
      "  rowlock watch --waiting --sort waiters --interval 5s\n"
      "  rowlock watch --json | jq -r .name\n"
      "Lines begin with the time; one follows when only a hold's data changes. --json prints one object\n"
      "per line: at, change (seen, changed or gone), name, and lock as in list. Changes that are reversed\n"
      "between two reads are not shown.");
  auto words = std::make_shared<watch_words>();
  add_listing_options(command, words->listing);
  add_nonempty(command, "--interval", words->interval, "Time between two reads (default 2s; at least 100ms)")
      ->type_name("DURATION");
  program.set_action(command, [words](const context& global) { return watch_locks(global, *words); });
}

}  // namespace rowlock::cli
