// The plan of a run, which its seed decides before the run begins: the clients, what their users do, and the faults.
// Everything has a number, so that a failing run can be repeated without it.
#pragma once

#include "simulator/recorder.hpp"
#include "simulator/scheduler.hpp"

#include <rowlock/options.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::simulator {

// calm: nothing fails, so every call must succeed, and soon. bounded: faults, but the clocks stay together and nothing
// durable is lost. unbounded: clocks step, and a fail-over loses what was durable.
enum class severity : std::uint8_t { calm, bounded, unbounded };
std::string_view to_string(severity how);

// The locks of a story.
enum class place : std::uint8_t {
  first_mutex,
  second_mutex,
  unfair_mutex,
  delayed_mutex,
  shared,
  semaphore,
  latch,
  barrier,
  election,
  recursive,
  count
};
std::string name_of(place where);
inline constexpr std::int64_t semaphore_capacity = 3;
inline constexpr std::int64_t latch_count = 3;
inline constexpr std::int64_t barrier_parties = 2;
inline constexpr std::size_t cluster_nodes = 3;
inline constexpr std::size_t quorum_members = 3;

enum class action : std::uint8_t {
  acquire,
  try_acquire,
  acquire_within,
  acquire_stopped,
  acquire_with_ttl,
  acquire_with_min_hold,
  standard_lock,
  standard_shared,  // locked to write and to read, in turn
  acquire_nested,   // two locks, in either order, with detect_deadlock
  read,
  read_within,
  write,
  downgrade,
  upgrade,
  permits,
  permits_within,
  drain,
  resize,
  reenter,
  count_down,
  wait_at_latch,
  wait_at_latch_async,
  reset_latch,
  arrive,
  arrive_async,
  abandon_arrival,
  campaign,
  stand_for_office,  // as a candidate in the background
  observe,
  acquire_all,
  acquire_all_within,
  acquire_all_async,
  acquire_all_async_within,
  abandon_all_async,
  acquire_async,
  acquire_async_within,
  abandon_async,
  transfer,
  extend,
  adopt,
  reclaim,
  force,
  request_release,
  sweep,
  collect,
  look,
  record,
  raise_epoch,
  set_skew,
  guarded_write,
  keep_to_the_end,
  reopen,
  close_meanwhile,  // while several asynchronous calls are under way
  wrong_kind,
  count
};
std::string_view to_string(action what);

// The details of an operation that a number decides.
enum class detail : std::uint8_t {
  coroutine,
  executor,
  stop,
  text,
  text_read,
  release,
  release_executor,
  calls,
  latch,
  standing,
};

struct operation {
  int number = 0;
  int client = 0;
  int thread = 0;
  action what = action::acquire;
  place where = place::first_mutex;
  place second = place::second_mutex;
  nanoseconds pause = 0;  // before the operation
  nanoseconds keep = 0;   // how long the operation keeps the hold that it gets
  nanoseconds limit = 0;  // the limit of the call
  std::int64_t amount = 1;
  std::uint64_t variety = 0;  // decides the details

  // 0 to many - 1.
  std::uint64_t decides(detail which, std::uint64_t many) const {
    return random_stream{variety, static_cast<std::uint64_t>(which)}.below(many);
  }
};

// Whether a verb's statement may be executed after its session has gone. An edit decides in its caller's thread.
bool may_be_ghost(std::string_view verb);

struct fault {
  int number = 0;
  nanoseconds at = 0;  // from the beginning of the run
  fault_kind kind = fault_kind::request_delayed;
  int client = 0;         // 0: any
  std::string_view verb;  // the verb of the next call that the fault meets; empty: any verb
  nanoseconds length = 0;
  std::int64_t amount = 0;
  std::int64_t spares = 0;  // how many such calls the fault spares before
  std::size_t server = 0;   // the server that the fault strikes
  place where = place::first_mutex;
};

struct client_plan {
  options settings;
  drifting_clock clock;
  int threads = 1;
  nanoseconds slow_log = 0;
  nanoseconds slow_callback = 0;
};

struct story {
  std::uint64_t seed = 0;
  severity how = severity::calm;
  scheduling switches;
  std::vector<client_plan> clients;  // client i is process i + 1
  std::vector<operation> operations;
  std::vector<fault> faults;
  std::vector<drifting_clock> server_clocks;  // one for each server
  nanoseconds latency = millisecond;          // at most half of a round trip
  nanoseconds ends_faults = 0;                // when the last fault is over
  bool polls = false;                         // the server sends no wake-ups

  // Whether the users call quorum_mutex, on several servers.
  bool is_of_quorum() const { return server_clocks.size() > 1; }
  bool has(fault_kind kind) const;
  bool has(action what) const;
};

// The parts of a story that are left out.
struct omissions {
  std::set<int> operations;
  std::set<int> faults;
  bool calm_scheduling = false;
};

story make_story(std::uint64_t seed);
void leave_out(story& from, const omissions& what);

}  // namespace rowlock::simulator
