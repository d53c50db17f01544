// Signals that are read instead of handled, and waits that a signal or a stop request ends.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>

namespace rowlock::cli {

// The kernel drops a signal that would end process 1, the main process of a container, unless that process handles it.
// From now on such a signal ends this process, if it is process 1, with 128 plus the signal's number. Without it
// `docker stop` would wait for its time limit, and kill.
void let_signals_end_process_1() noexcept;

// Blocks the signals that a child gets too, and SIGCHLD, in the calling thread and in threads that it starts later,
// until the queue is destroyed. A signal that the caller of this process told it to ignore stays ignored.
// The destructor drops the signals that nobody has taken, because they would end this process with an exit code of
// their own. It keeps those that this process has sent to itself: they end it there.
class signal_queue {
 public:
  signal_queue();
  ~signal_queue();
  signal_queue(const signal_queue&) = delete;
  signal_queue& operator=(const signal_queue&) = delete;

  int descriptor() const noexcept { return descriptor_; }  // readable when a signal has come
  std::optional<int> take();  // the number of a signal that has come; does not wait
  const sigset_t& mask_before() const noexcept { return before_; }
  // The destructor leaves the signals blocked, so that none changes the exit code while the process closes its
  // connections. For a process that has nothing to do then for which somebody might have to end it.
  void block_until_exit() noexcept { blocks_until_exit_ = true; }

 private:
  friend class queued_stops;

  sigset_t before_{};
  sigset_t mine_{};
  int descriptor_ = -1;
  bool blocks_until_exit_ = false;
};

// While it lives, the queue takes SIGTSTP (Ctrl-Z), too. Without it, SIGTSTP stops this process. Requires: the thread
// is that of the queue, and all other threads block SIGTSTP, as those of a client do.
class queued_stops {
 public:
  explicit queued_stops(signal_queue& signals);
  ~queued_stops();
  queued_stops(const queued_stops&) = delete;
  queued_stops& operator=(const queued_stops&) = delete;

 private:
  signal_queue& signals_;
  sigset_t before_{};
};

// Calls the body with a stop token, which stops at the first signal. Returns the signal, or 0 if none came
// before the body returned. Throws what the body throws, except error(cancelled).
int until_signal(signal_queue& signals, const std::function<void(std::stop_token)>& body);

// Waits until that time, or until a stop is requested.
void pause_until(std::chrono::steady_clock::time_point then, const std::stop_token& stop);

}  // namespace rowlock::cli
