#include "cli/stderr_lines.hpp"

#include "model/annotated_mutex.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <deque>
#include <string_view>
#include <system_error>
#include <thread>

#include <poll.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

// Afterwards a SIGPIPE is not delivered that came meanwhile.
class all_signals_blocked {
 public:
  all_signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~all_signals_blocked() {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    const timespec now{};
    sigtimedwait(&broken_pipe, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

class writer {
 public:
  // With every signal blocked, SIGPIPE does not end the process, and a terminal with `stty tostop` does not stop it
  // (SIGTTOU).
  writer() {
    const all_signals_blocked blocked;
    try {
      std::thread{[this] { run(); }}.detach();
      has_thread_ = true;
    } catch (const std::system_error&) {
      // Too many processes run. That is an error to be printed.
    }
  }

  void put(std::string line) {
    constexpr std::size_t most = 1000;
    const model::annotated_lock lock{mutex_};
    if (!has_thread_) return write_if_possible(line);
    if (lines_.size() >= most) return;
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

  void wait(std::chrono::milliseconds limit) {
    model::annotated_lock lock{mutex_};
    changed_.wait_for(lock, limit, [this]() ROWLOCK_REQUIRES(mutex_) { return lines_.empty(); });
  }

 private:
  void run() {
    model::annotated_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return !lines_.empty(); });
      const auto line = lines_.front();
      lock.unlock();
      write_all(line);
      lock.lock();
      lines_.pop_front();
      changed_.notify_all();
    }
  }

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
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_ ROWLOCK_GUARDED_BY(mutex_);  // the first one is being written
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
