// One client program of a run: a rowlock::client and the threads of its users.
#pragma once

#include "simulator/async_call.hpp"
#include "simulator/oracle.hpp"
#include "simulator/recorder.hpp"
#include "simulator/story.hpp"
#include "simulator/world.hpp"

#include <rowlock/rowlock.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::simulator {

// Texts that pass from one program to another, and the end of the story.
struct shared_state {
  std::deque<std::string> transfers;
  std::deque<std::string> receipts;
  bool at_rest = false;  // the holds that are kept to the end may be released
  bool closing = false;  // the clients close

  // Where threads wait for one of these. Polling them took most of a run's time.
  void wait_until(scheduler& runs, const bool& set) const {
    while (!set) runs.wait(this, nullptr, never);
  }
  void set(scheduler& runs, bool& which) const {
    which = true;
    runs.notify(this, true);
  }
};

class actor {
 public:
  actor(const story& plan, int client, process& home, scheduler& runs, recorder& records, oracle& checks,
        world& where, shared_state& shared);

  // Starts its threads. second_life: a program that starts again after a crash.
  void start(bool second_life);
  process& home() { return home_; }
  bool is_idle() const { return done_ == plan().threads; }  // its operations have ended
  bool is_closed() const { return closed_; }
  int threads() const { return plan().threads; }
  std::string pending() const;

 private:
  const client_plan& plan() const { return story_.clients[static_cast<std::size_t>(client_) - 1]; }

  void run_thread(int thread, std::vector<operation> todo);
  client connect();
  void close(client& db);
  void perform(const operation& one, int thread);
  void act(const operation& one);

  // What operations are made of.
  template <class Call>
  auto timed(const operation& one, nanoseconds limit, Call call);
  void keep(hold got, const operation& one);
  void keep(hold_set got, const operation& one);
  void look_after(const hold& got, nanoseconds length);
  void wait_until_told(const hold& got);
  void release(hold& got);
  void guard(hold& got, const operation& one);
  void say(const hold& got, const operation& one);
  void release_without_thread(hold got, const operation& one);
  void pause(nanoseconds length);
  hold acquired(const operation& one, place where);

  void acquire_exclusively(const operation& one);
  void use_shared_mutex(const operation& one);
  void use_semaphore(const operation& one);
  template <class Call>
  hold permits(Call call);
  void use_rendezvous(const operation& one);
  void use_election(const operation& one);
  void use_recursive(const operation& one);
  void acquire_several(const operation& one);
  void call_asynchronously(const operation& one);
  template <class Request>
  typename Request::result outcome_of(const operation& one, Request asked, nanoseconds limit);
  template <class Request>
  void abandon(const operation& one, const Request& asked);
  template <class Call>
  std::optional<typename Call::result> end_of(Call& call);
  void stand_for_office(const operation& one);
  void close_meanwhile(const operation& one);
  void use_standard_names(const operation& one);
  std::vector<wanted> several(const operation& one, const client& db);
  static acquire_options ttl_for_several(const operation& one);
  void pass_on(const operation& one);
  void operate(const operation& one);
  void reopen(const operation& one);

  nanoseconds longest_call() const;
  nanoseconds slack() const;
  nanoseconds close_limit() const;
  nanoseconds limit_of(const operation& one) const;
  bool is_expected(const operation& one, const error& failure) const;

  struct ending {
    std::string waits_in;  // the call that it is in
  };

  const story& story_;
  int client_;
  process& home_;
  scheduler& runs_;
  recorder& records_;
  oracle& checks_;
  world& world_;
  shared_state& shared_;
  std::optional<client> db_;
  std::vector<ending> endings_;
  int semaphore_calls_ = 0;
  int done_ = 0;
  int left_ = 0;
  bool closed_ = false;
};

}  // namespace rowlock::simulator
