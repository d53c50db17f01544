#include "cli/stderr_lines.hpp"

#include "model/call_queue.hpp"
#include "model/signal_mask.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

// Blocks every signal in the thread that makes this object. The destructor drops a SIGPIPE that came meanwhile.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept = default;
  ~all_signals_blocked() {
    const auto broken_pipe = model::only_signal(SIGPIPE);
    const timespec now{};
    sigtimedwait(&broken_pipe, nullptr, &now);
  }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

 private:
  const model::signal_mask mask_{SIG_BLOCK, model::all_signals()};
};

class writer {
 public:
  // With every signal blocked, SIGPIPE does not end the process, and a terminal with `stty tostop` does not stop it
  // (SIGTTOU).
  writer() {
    const all_signals_blocked blocked;
    try {
      std::thread{[this] { calls_.run([](const auto& write) { write(); }); }}.detach();
      has_thread_ = true;
    } catch (const std::system_error&) {
      // Too many processes run. That is an error to be printed.
    }
  }

  void put(std::string line) {
    constexpr std::size_t most = 1000;
    if (!has_thread_) return write_if_possible(line);
    calls_.put([&](calls& waiting) {
      if (waiting.all.size() < most) waiting.all.push_back([line = std::move(line)] { write_all(line); });
    });
  }

  void wait(std::chrono::milliseconds limit) {
    if (!has_thread_) return;
    const auto written = std::make_shared<std::promise<void>>();
    calls_.put([&](calls& waiting) { waiting.all.push_back([written] { written->set_value(); }); });
    written->get_future().wait_for(limit);
  }

 private:
  using calls = model::call_list<std::function<void()>>;

  // As write_all(), but drops a line that stderr does not take soon.
  static void write_if_possible(std::string_view line) {
    const all_signals_blocked blocked;
    pollfd output{STDERR_FILENO, POLLOUT, 0};
    constexpr int soon = 100;  // milliseconds
    if (poll(&output, 1, soon) > 0 && (output.revents & POLLOUT) != 0) write_all(line);
  }

  static void write_all(std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(STDERR_FILENO, text.data(), text.size());
      if (written < 0 && errno != EINTR) return;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  bool has_thread_ = false;
  model::call_queue<calls> calls_;
};

// Never destroyed: its thread may be in a write that does not end.
writer& the_writer() {
  static auto* const one = new writer;
  return *one;
}

}  // namespace

void put_stderr_line(std::string line) {
  the_writer().put(std::move(line));
}

void wait_for_stderr(std::chrono::milliseconds limit) {
  the_writer().wait(limit);
}

}  // namespace rowlock::cli
