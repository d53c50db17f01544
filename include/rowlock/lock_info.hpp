// What the database shows of a lock: who holds it, and who waits for it.
#pragma once

#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

struct holder_info {
  std::string host;
  std::int64_t pid = 0;
  std::string application;
  rowlock::hold_id hold_id;
  rowlock::lease_id lease_id;
  lock_mode mode = lock_mode::exclusive;
  std::int64_t weight = 1;  // how much of the lock's capacity it has
  fencing_token token;
  std::chrono::milliseconds held_for{0};    // since it was granted, on the database's clock
  std::chrono::milliseconds expires_in{0};  // negative: expired, but not killed yet
  std::string user;                         // whose process it is; empty if an older version acquired it
  std::string command;                      // what it runs: options::command
  bool of_this_client = false;              // the hold is one of the client that asks
  std::string data;                         // the text that its holder attached: hold::set_data
  bool rests = false;  // nobody has it: the lock, or its part of it, rests until expires_in
};

struct waiter_info {
  std::int64_t ticket = 0;  // the request with the lowest one is granted first
  std::string host;         // empty if its lease was killed, as are the other texts; pid is then 0
  std::int64_t pid = 0;
  std::string application;
  rowlock::hold_id hold_id;
  rowlock::lease_id lease_id;
  lock_mode mode = lock_mode::exclusive;
  std::int64_t weight = 1;  // how much of the lock's capacity it waits for
  std::chrono::milliseconds expires_in{0};
  bool alive = true;  // false: its lease was killed, and it will be skipped
  std::string user;   // as of a holder
  std::string command;
  bool of_this_client = false;  // it waits in the client that asks
};

struct lock_info {
  std::string name;
  lock_kind kind = lock_kind::mutex;
  // A mutex and an election have the capacity 1, a semaphore its permits, a latch its count, a barrier its parties.
  // A shared_mutex has 1,000,000, of which each reader has 1.
  std::int64_t capacity = 0;
  std::int64_t in_use = 0;  // held, or resting; of a latch what was counted down
  bool fair = true;
  fencing_token token;  // at least that of the latest grant
  std::int64_t waiters = 0;
  std::vector<holder_info> holders;
  std::optional<release_request> request;  // the latest one, if it is meant for one of the holders
};

ROWLOCK_END_NAMESPACE
