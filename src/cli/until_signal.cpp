#include "cli/until_signal.hpp"

#include <rowlock/error.hpp>

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

// Reads signals during a wait, and stops the wait on the first one.
class signal_watch {
 public:
  explicit signal_watch(signal_queue& signals)
      : signals_{signals}, done_{eventfd(0, EFD_CLOEXEC)}, thread_{[this] { run(); }} {}
  ~signal_watch() { finish(); }
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

  // Ends the watch. Returns the signal, or 0.
  int finish() {
    if (thread_.joinable()) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = write(done_, &one, sizeof one);
      thread_.join();
      close(done_);
    }
    return signal_;
  }

 private:
  void run() {
    for (;;) {
      pollfd watched[] = {{signals_.descriptor(), POLLIN, 0}, {done_, POLLIN, 0}};
      poll(watched, 2, -1);
      while (const auto signal = signals_.take()) {
        if (*signal == SIGCHLD) continue;
        signal_ = *signal;
        stop_.request_stop();
        return;
      }
      if ((watched[1].revents & POLLIN) != 0) return;
    }
  }

  signal_queue& signals_;
  int done_;
  int signal_ = 0;  // read after join
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace

int until_signal(signal_queue& signals, const std::function<void(std::stop_token)>& body) {
  signal_watch watch{signals};
  try {
    body(watch.token());
  } catch (const error& problem) {
    if (problem.code() != errc::cancelled) throw;
  }
  return watch.finish();
}

}  // namespace rowlock::cli
