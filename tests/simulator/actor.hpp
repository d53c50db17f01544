// A program with one client, whose users use all kinds of locks.
#pragma once

#include "simulator/async_call.hpp"
#include "simulator/program.hpp"

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

class actor final : public program {
 public:
  actor(const story& plan, int client, process& home, scheduler& runs, recorder& records, oracle& checks,
        world& where, shared_state& shared);

 private:
  void connect() override;
  bool is_connected() const override { return db_.has_value(); }
  void close() override;
  void act(const operation& one) override;
  bool is_expected(const operation& one, const error& failure) const override;
  std::vector<operation> first_of_second_life() const override;

  client open_with_retry();

  // The parts of which operations are made.
  void keep(hold got, const operation& one);
  void keep(hold_set got, const operation& one);
  void look_after(const hold& got, nanoseconds length);
  void wait_until_told(const hold& got);
  void release(hold& got);
  void guard(hold& got, const operation& one);
  void say(const hold& got, const operation& one);
  void release_without_thread(hold got, const operation& one);
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

  world& world_;
  std::optional<client> db_;
  int semaphore_calls_ = 0;
};

}  // namespace rowlock::simulator
