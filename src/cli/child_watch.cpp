#include "cli/child_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// A descriptor that is readable once the hold is lost or its release is requested, so that poll() returns at once.
class alarm {
 public:
  explicit alarm(const hold& held)
      : descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
        on_loss_{std::in_place, held.stop_token(), ring{descriptor_}},
        on_request_{std::in_place, held.release_requested(), ring{descriptor_}} {}
  ~alarm() {
    // Each reset waits for a running callback.
    on_loss_.reset();
    on_request_.reset();
    close(descriptor_);
  }
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  void drain() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(descriptor_, &count, sizeof count);
  }

 private:
  struct ring {
    int descriptor;
    void operator()() const noexcept {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = write(descriptor, &one, sizeof one);
    }
  };

  int descriptor_;
  std::optional<std::stop_callback<ring>> on_loss_;
  std::optional<std::stop_callback<ring>> on_request_;
};

// Decides when to end the command, and with which signal.
class kill_schedule {
 public:
  kill_schedule(child& command, const hold& held, const watch_settings& how,
                const std::function<void(std::string_view)>& note)
      : command_{command},
        held_{held},
        kill_after_{how.kill_after},
        at_most_{how.at_most},
        yields_{how.yields},
        note_{note} {}

  bool timed_out() const noexcept { return timed_out_; }
  bool stopped() const noexcept { return stopped_at_.has_value(); }
  bool killed() const noexcept { return killed_; }
  // A survivor is a process of another user that SIGKILL could not end. has_survivor(): whether one still runs.
  // had_survivor(): whether one ran, at least for a while.
  bool has_survivor() const noexcept { return survivor_.has_value(); }
  bool had_survivor() const noexcept { return had_survivor_; }

  // Sends the signals that are due. Returns the time until the next call; empty: there is nothing more to do.
  std::optional<nanoseconds> act() {
    if (killed_) return look_at_survivor();
    const bool valid = held_.valid();
    const auto remaining = held_.remaining();
    if (!stopped()) {
      if (valid) note_request();
      nanoseconds left = at_most_ ? *at_most_ - (clock::now() - started_at_) : nanoseconds::max();
      if (valid && remaining > kill_after_ && left > 0ns)
        return std::min<nanoseconds>({remaining - kill_after_, left, asked_ ? look_for_request : left});
      timed_out_ = valid && remaining > kill_after_;
      terminate(timed_out_ ? "the command has run for the time of --at-most"
                : valid    ? "the lease cannot be renewed"
                           : fmt::format("the hold is lost ({})", to_string(held_.loss())));
    }
    if (const auto grace = grace_left(); grace > 0ns) {
      tell_why();
      return std::max(grace_left(), 0ns);
    }
    command_.send(SIGKILL);
    killed_ = true;
    survivor_ = command_.out_of_reach();
    tell_why();
    if (!survivor_) return {};
    had_survivor_ = true;
    if (held_.valid()) note_(cannot_be_ended(*survivor_) + "; the lock stays held until it ends");
    return 0ns;
  }

  // Requires: a survivor.
  void abandon() {
    command_.abandon();
    note_(cannot_be_ended(*survivor_) + "; it goes on without the lock");
  }

 private:
  // How often to look for a later request, because the hold's token reports only the first one.
  static constexpr nanoseconds look_for_request = 1s;
  // How often to look for the survivor, because no event reports the end of a process that is not a child.
  static constexpr nanoseconds look_for_survivor = 200ms;

  void note_request() {
    const auto request = held_.request();
    if (!request || !is_news(*request)) return;
    const auto what = "somebody requests the release of the lock" +
                      (request->reason.empty() ? "" : fmt::format(" ({})", request->reason));
    if (yields_) end_command();
    note_(yields_ ? what + "; " + how_it_ends() : what);
  }

  // Each audit of the client reads the same request again, and computes the request's end anew: too early by the time
  // that the database took. A second SIGTERM could interrupt the command while it ends.
  bool is_news(const release_request& request) {
    constexpr nanoseconds tolerance = 5s;
    const auto until = clock::now() + request.remaining;
    const bool is_later = request.remaining > 0ns && until > asked_until_ + tolerance;
    if (asked_ && *asked_ == request.reason && !is_later) return false;
    asked_ = request.reason;
    asked_until_ = until;
    return true;
  }

  std::optional<nanoseconds> look_at_survivor() {
    if (!survivor_) return {};
    survivor_ = command_.out_of_reach();
    return survivor_ ? look_for_survivor : 0ns;
  }

  // A stopped command receives SIGTERM only when it is continued. It must not be continued once the lease has expired.
  void end_command() {
    command_.send(SIGTERM);
    if (held_.loss() != loss::expired) command_.send(SIGCONT);
  }

  void terminate(std::string reason) {
    stopped_at_ = clock::now();
    end_command();
    reason_ = std::move(reason);
  }

  // A late renewal changes nothing, because a command that keeps running would otherwise hold the lock for ever.
  nanoseconds grace_left() const {
    if (held_.loss() == loss::expired) return 0ns;
    const nanoseconds grace = *stopped_at_ + kill_after_ - clock::now();
    return held_.valid() ? std::min<nanoseconds>(grace, held_.remaining()) : grace;
  }

  // Called after the signals are sent, because the line is only for people.
  void tell_why() {
    if (reason_.empty()) return;
    note_(reason_ + "; " + how_it_ends());
    reason_.clear();
  }

  std::string how_it_ends() const {
    const auto survivor = command_.out_of_reach();
    return survivor ? cannot_be_ended(*survivor) : "ending the command";
  }

  static std::string cannot_be_ended(pid_t process) {
    return fmt::format("process {} runs as another user and cannot be ended", process);
  }

  child& command_;
  const hold& held_;
  nanoseconds kill_after_;
  std::optional<nanoseconds> at_most_;
  bool yields_;
  const std::function<void(std::string_view)>& note_;
  std::optional<std::string> asked_;  // the reason of the latest request
  clock::time_point asked_until_;
  std::string reason_;  // why the command is ended; empty once that was told
  bool killed_ = false;
  std::optional<pid_t> survivor_;
  bool had_survivor_ = false;
  bool timed_out_ = false;
  const clock::time_point started_at_ = clock::now();
  std::optional<clock::time_point> stopped_at_;
};

void wait_for_either(int first, int second, std::optional<nanoseconds> timeout) {
  pollfd watched[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  timespec time{};
  if (timeout) {
    // Rounded up, because the signal must be due at the next call.
    const auto whole = std::max(*timeout, nanoseconds{0}) + 1ms;
    time.tv_sec = static_cast<time_t>(whole / 1s);
    time.tv_nsec = static_cast<long>((whole % 1s).count());
  }
  ppoll(watched, 2, timeout ? &time : nullptr, nullptr);
}

}  // namespace

watch_result watch(child& command, const hold& held, signal_queue& signals, const watch_settings& how,
                   const std::function<void(std::string_view)>& note) {
  watch_result result;
  alarm bell{held};
  kill_schedule schedule{command, held, how, note};
  // No event reports that the rest of the group has ended, so it is polled.
  constexpr nanoseconds look_again = 20ms;
  const auto is_unfinished = [&] {
    if (schedule.killed()) return schedule.has_survivor() ? held.valid() : !command.ended();
    return !command.ended() || (schedule.stopped() && !command.group_ended());
  };
  while (is_unfinished()) {
    auto until = schedule.act();
    command.continue_stopped();  // after act(), which ends a command whose hold was lost meanwhile
    if (command.ended() && !schedule.has_survivor()) until = std::min(until.value_or(look_again), look_again);
    wait_for_either(signals.descriptor(), bell.descriptor(), until);
    bell.drain();
    while (const auto signal = signals.take()) {
      if (*signal == SIGCHLD) continue;
      // child::ended() stops this process once the command has stopped. A command that ignores SIGTSTP goes on, and so
      // do the renewals.
      const bool may_end = *signal != SIGUSR1 && *signal != SIGUSR2 && *signal != SIGTSTP;
      if (may_end) result.signal = *signal;
      command.send(*signal);
      if (const auto process = command.out_of_reach()) {
        note(fmt::format("process {} runs as another user and cannot be sent SIG{}", *process,
                         sigabbrev_np(*signal)));
      }
    }
  }
  if (schedule.has_survivor()) schedule.abandon();
  result.out_of_reach = schedule.had_survivor();
  result.timed_out = schedule.timed_out();
  result.lost = (schedule.stopped() && !schedule.timed_out()) || !held.valid();
  return result;
}

}  // namespace rowlock::cli
