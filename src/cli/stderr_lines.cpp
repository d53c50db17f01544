#include "cli/stderr_lines.hpp"

#include "model/annotated_mutex.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <string_view>
#include <thread>

#include <unistd.h>

namespace rowlock::cli {

namespace {

class writer {
 public:
  // With every signal blocked, SIGPIPE does not end the process, and a terminal with `stty tostop` does not stop it
  // (SIGTTOU).
  writer() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread{[this] { run(); }}.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void put(std::string line) {
    constexpr std::size_t most = 1000;
    const model::annotated_lock lock{mutex_};
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

  static void write_all(std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(STDERR_FILENO, text.data(), text.size());
      if (written < 0 && errno != EINTR) return;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

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
