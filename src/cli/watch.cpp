#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/json.hpp"
#include "cli/listing.hpp"
#include "cli/lock_changes.hpp"
#include "cli/pause.hpp"
#include "cli/screen.hpp"
#include "cli/signal_queue.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>
#include <thread>

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

// Shows one reading after the other. If a reading fails, the next one follows.
class viewer {
 public:
  virtual ~viewer() = default;
  // Returns false if nobody reads the output any more.
  virtual bool look(admin& db) = 0;
  virtual bool lost(const error& problem) = 0;
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

  bool lost(const error& problem) override {
    draw(one_line(problem.what()));
    return true;
  }

  screen& keys() { return screen_; }

 private:
  // A column for data is there if a holder has some.
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
  std::vector<std::string> table_;  // of the latest look that succeeded
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

  bool lost(const error& problem) override {
    if (!std::exchange(is_lost_, true)) global_.print_to_stderr(problem.what());
    return true;
  }

 private:
  void print(const std::vector<lock_change_line>& changes) {
    for (const auto& [name, change, lock] : changes) {
      const auto now = time_text(milliseconds{0});
      if (global_.json) {
        json::object line{{"at", now}, {"change", to_string(change)}, {"name", name}};
        if (lock) line.emplace_back("lock", to_json(*lock));
        put(json_line(line));
      } else {
        put(fmt::format("{}  {}  {}", now, printable(name), lock ? printable(state_text(*lock)) : "gone"));
      }
    }
  }
  // look() finds out whether that failed.
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

  int descriptor() const { return done_; }  // readable when it has ended by itself
  void ask_to_stop() { thread_.request_stop(); }
  // Waits for the reading that is under way. Returns what ended it, if that was an error.
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
          if (stop.stop_requested()) return;  // it was interrupted
          if (!problem.transient()) throw;
          is_read = shown.lost(problem);
        }
        if (is_read) pause_until(std::chrono::steady_clock::now() + interval, stop);
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  int done_;
  std::exception_ptr failure_;
  std::jthread thread_;  // the last member: it uses the others
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
    if (watched[1].revents != 0) return by_signal + SIGPIPE;  // unless it failed
    if (keys && watched[2].revents != 0 && keys->asks_to_quit()) return success;
    if (!keys && (watched[2].revents & (POLLERR | POLLNVAL)) != 0) return by_signal + SIGPIPE;
  }
}

int watch_locks(const context& global, const watch_words& words) {
  const auto interval = parse_duration("--interval", words.interval);
  if (interval < milliseconds{100})
    throw error(errc::invalid_argument, "--interval " + words.interval + " is less than 100ms");
  // Before the client starts its threads, because signals that are not blocked there would end the process.
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
  const auto failure = looks.finish();
  table.reset();  // so that the error message appears on the original screen
  if (failure) std::rethrow_exception(failure);
  return code;
}

}  // namespace

void add_watch(command_syntax root) {
  auto command = root.add_subcommand(
      "watch", "Show locks as they change: a table in a terminal (q ends it), otherwise a line per change.",
      "rowlock watch 'billing/*' --held\n"
      "  rowlock watch --waiting --sort waiters --interval 5s\n"
      "  rowlock watch --json | jq -r .name\n"
      "Lines begin with the time; one follows when only a hold's data changes. --json prints one object\n"
      "per line: at, change (seen, changed or gone), name, and lock as in list. Changes that are reversed\n"
      "between two reads are not shown.");
  auto words = std::make_shared<watch_words>();
  add_listing_options(command, words->listing);
  command.add("--interval", words->interval, "Time between two reads (default 2s; at least 100ms)")
      .value_name("DURATION");
  command.set_action([words](const context& global) { return watch_locks(global, *words); });
}

}  // namespace rowlock::cli
