// A client program of a run: a process, and the threads of its users. The derived class decides what they use and do.
#pragma once

#include "simulator/oracle.hpp"
#include "simulator/recorder.hpp"
#include "simulator/story.hpp"
#include "simulator/world.hpp"

#include <rowlock/client.hpp>

#include <climits>
#include <deque>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::simulator {

// Texts that programs pass to each other, and the end of the story.
struct shared_state {
  std::deque<std::string> transfers;
  std::deque<std::string> receipts;
  bool at_rest = false;  // holds that were kept to the end may be released
  bool closing = false;  // the clients close

  // Waits until one of these is set. Polling took most of a run's time.
  void wait_until(scheduler& runs, const bool& set) const {
    while (!set) runs.wait(this, nullptr, never);
  }
  void set(scheduler& runs, bool& which) const {
    which = true;
    runs.notify(this, INT_MAX);
  }
};

std::chrono::nanoseconds in_chrono(nanoseconds length);
nanoseconds in_nanoseconds(std::chrono::milliseconds length);

// Requests a stop after that time. Its destructor waits for the thread that does so.
class delayed_stop {
 public:
  delayed_stop(scheduler& runs, nanoseconds after)
      : thread_{[this, &runs, after] {
          runs.sleep_until(runs.now() + after);
          stop_.request_stop();
        }} {}
  ~delayed_stop() { thread_.join(); }
  delayed_stop(const delayed_stop&) = delete;
  delayed_stop& operator=(const delayed_stop&) = delete;

  std::stop_token token() const noexcept { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::thread thread_;
};

class program {
 public:
  // checks: the oracle of the users' calls.
  program(const story& plan, int client, process& home, scheduler& runs, recorder& records, oracle& checks,
          shared_state& shared);
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  virtual ~program() = default;

  // Starts its threads. second_life: a program that starts again after a crash.
  void start(bool second_life);
  process& home() { return home_; }
  bool is_idle() const { return done_ == plan().threads; }  // its operations have ended
  bool is_closed() const { return closed_; }
  int threads() const { return plan().threads; }
  std::string pending() const;

 protected:
  // Called by the program's first thread, before all operations and after them.
  virtual void connect() = 0;
  virtual bool is_connected() const = 0;
  virtual void close() = 0;
  virtual void act(const operation& one) = 0;
  // Errors that may occur without any fault.
  virtual bool is_expected(const operation& one, const error& failure) const = 0;
  // The operations with which a second life begins.
  virtual std::vector<operation> first_of_second_life() const { return {}; }

  const client_plan& plan() const { return story_.clients[static_cast<std::size_t>(client_) - 1]; }
  // A client of that server. Throws error.
  client open(world& where, oracle& checks);
  void close_client(client& db);
  void pause(nanoseconds length);
  // Checks that the call ends within the limit.
  template <class Call>
  auto timed(const operation& one, nanoseconds limit, Call call);

  nanoseconds longest_call() const;
  nanoseconds slack() const;
  nanoseconds close_limit() const;
  nanoseconds limit_of(const operation& one) const;

  const story& story_;
  int client_;
  process& home_;
  scheduler& runs_;
  recorder& records_;
  oracle& checks_;
  shared_state& shared_;

 private:
  void run_thread(int thread, std::vector<operation> todo);
  void perform(const operation& one, int thread);

  struct ending {
    std::string waits_in;  // the call in which the thread is
  };

  std::vector<ending> endings_;
  int done_ = 0;
  int left_ = 0;
  bool closed_ = false;
};

template <class Call>
auto program::timed(const operation& one, nanoseconds limit, Call call) {
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  const auto end = [&] {
    checks_.call_ended(fmt::format("#{} {}", one.number, to_string(one.what)), began, still, limit);
  };
  try {
    auto result = call();
    end();
    return result;
  } catch (const error&) {
    end();
    throw;
  }
}

}  // namespace rowlock::simulator
