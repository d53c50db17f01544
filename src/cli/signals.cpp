#include "cli/signals.hpp"

#include "model/signal_mask.hpp"

#include <rowlock/error.hpp>

#include <condition_variable>
#include <cstdint>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

// nohup and a script's "command &" let a process ignore signals. Once such a signal is blocked, the kernel queues it.
bool is_ignored(int number) {
  struct sigaction current {};
  return sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

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

// Those that a child gets too. Each would end this process.
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// The condition of a pause never becomes true, so there is nothing to guard.
struct no_lock {
  void lock() {}
  void unlock() {}
};

}  // namespace

void let_signals_end_process_1() noexcept {
  if (getpid() != 1) return;
  struct sigaction end {};
  end.sa_handler = [](int number) { _exit(128 + number); };
  for (const int number : ending_signals) {
    if (!is_ignored(number)) sigaction(number, &end, nullptr);
  }
}

signal_queue::signal_queue() {
  sigemptyset(&mine_);
  // An inherited SIG_IGN would let the kernel reap the child, and its exit code with it.
  std::signal(SIGCHLD, SIG_DFL);
  sigaddset(&mine_, SIGCHLD);
  for (const int number : ending_signals) {
    if (!is_ignored(number)) sigaddset(&mine_, number);
  }
  pthread_sigmask(SIG_BLOCK, &mine_, &before_);
  descriptor_ = signalfd(-1, &mine_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0)
    throw error(errc::unreachable, "cannot open a signalfd; the limit of open files may be reached");
}

signal_queue::~signal_queue() {
  sigset_t own;
  sigemptyset(&own);
  signalfd_siginfo info{};
  while (read(descriptor_, &info, sizeof info) == sizeof info) {
    if (static_cast<pid_t>(info.ssi_pid) == getpid()) sigaddset(&own, static_cast<int>(info.ssi_signo));
  }
  close(descriptor_);
  bool ends_here = false;
  for (const int number : {SIGINT, SIGQUIT}) {  // those that a child sends (child::reaped)
    if (sigismember(&own, number) != 1) continue;
    kill(getpid(), number);
    ends_here = true;
  }
  if (ends_here || !blocks_until_exit_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> signal_queue::take() {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof info) != sizeof info) return {};
  return static_cast<int>(info.ssi_signo);
}

// The descriptor must not take SIGTSTP before and after, because it could then take one that is to stop the process.
queued_stops::queued_stops(signal_queue& signals) : signals_{signals} {
  sigset_t more = signals_.mine_;
  if (!is_ignored(SIGTSTP)) sigaddset(&more, SIGTSTP);
  pthread_sigmask(SIG_BLOCK, &more, &before_);
  signalfd(signals_.descriptor_, &more, 0);
}

// A Ctrl-Z that came while the command ended is dropped: it would stop this process before it has released the lock.
queued_stops::~queued_stops() {
  signalfd(signals_.descriptor_, &signals_.mine_, 0);
  const auto stop = model::only_signal(SIGTSTP);
  const timespec now{};
  sigtimedwait(&stop, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int until_signal(signal_queue& signals, const std::function<void(std::stop_token)>& body) {
  signal_watch watch{signals};
  try {
    body(watch.token());
  } catch (const error& problem) {
    if (problem.code() != errc::cancelled) throw;
  }
  return watch.finish();
}

void pause_until(std::chrono::steady_clock::time_point then, const std::stop_token& stop) {
  std::condition_variable_any never;
  no_lock nothing;
  never.wait_until(nothing, stop, then, [] { return false; });
}

}  // namespace rowlock::cli
