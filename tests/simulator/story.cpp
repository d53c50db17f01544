#include "simulator/story.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace rowlock::simulator {

namespace {

using std::chrono::milliseconds;

struct weighted_action {
  action what;
  place where;
  int weight;
};

// What users do at a place, and how often.
constexpr weighted_action common[] = {
    {action::acquire, place::first_mutex, 10},
    {action::try_acquire, place::first_mutex, 3},
    {action::acquire_within, place::first_mutex, 8},
    {action::acquire_stopped, place::first_mutex, 4},
    {action::acquire_with_ttl, place::first_mutex, 4},
    {action::acquire_with_min_hold, place::first_mutex, 2},
    {action::standard_lock, place::first_mutex, 2},
    {action::acquire_nested, place::first_mutex, 3},
    {action::acquire_async, place::first_mutex, 4},
    {action::acquire_async_within, place::first_mutex, 4},
    {action::abandon_async, place::first_mutex, 2},
    {action::transfer, place::first_mutex, 3},
    {action::extend, place::first_mutex, 1},
    {action::adopt, place::first_mutex, 4},
    {action::reclaim, place::first_mutex, 2},
    {action::force, place::first_mutex, 3},
    {action::request_release, place::first_mutex, 2},
    {action::guarded_write, place::first_mutex, 8},
    {action::keep_to_the_end, place::first_mutex, 2},
    {action::wrong_kind, place::first_mutex, 1},
    {action::acquire_all, place::first_mutex, 3},
    {action::acquire_all_within, place::first_mutex, 3},
    {action::acquire_all_async, place::first_mutex, 3},
    {action::acquire_all_async_within, place::first_mutex, 4},
    {action::abandon_all_async, place::first_mutex, 3},
    {action::acquire, place::second_mutex, 5},
    {action::acquire_within, place::second_mutex, 3},
    {action::keep_to_the_end, place::second_mutex, 2},
    {action::acquire, place::unfair_mutex, 3},
    {action::acquire_within, place::unfair_mutex, 3},
    {action::acquire, place::delayed_mutex, 4},
    {action::acquire_within, place::delayed_mutex, 2},
    {action::read, place::shared, 8},
    {action::read_within, place::shared, 4},
    {action::write, place::shared, 8},
    {action::acquire_within, place::shared, 3},
    {action::downgrade, place::shared, 4},
    {action::upgrade, place::shared, 4},
    {action::standard_shared, place::shared, 3},
    {action::guarded_write, place::shared, 3},
    {action::acquire_async_within, place::shared, 2},
    {action::force, place::shared, 1},
    {action::keep_to_the_end, place::shared, 1},
    {action::permits, place::semaphore, 10},
    {action::permits_within, place::semaphore, 6},
    {action::drain, place::semaphore, 2},
    {action::resize, place::semaphore, 9},
    {action::force, place::semaphore, 1},
    {action::keep_to_the_end, place::semaphore, 1},
    {action::count_down, place::latch, 8},
    {action::wait_at_latch, place::latch, 4},
    {action::wait_at_latch_async, place::latch, 4},
    {action::reset_latch, place::latch, 2},
    {action::arrive, place::barrier, 7},
    {action::arrive_async, place::barrier, 8},
    {action::abandon_arrival, place::barrier, 2},
    {action::campaign, place::election, 6},
    {action::stand_for_office, place::election, 6},
    {action::observe, place::election, 5},
    {action::transfer, place::election, 1},
    {action::adopt, place::election, 1},
    {action::reenter, place::recursive, 10},
};

constexpr weighted_action of_operators[] = {
    {action::sweep, place::first_mutex, 6},    {action::collect, place::first_mutex, 3},
    {action::look, place::first_mutex, 6},     {action::raise_epoch, place::first_mutex, 1},
    {action::set_skew, place::first_mutex, 1}, {action::reopen, place::first_mutex, 8},
    {action::record, place::first_mutex, 2},   {action::close_meanwhile, place::first_mutex, 5},
};

template <class Range>
const weighted_action& pick(random_stream& random, const Range& from, const std::vector<place>& places) {
  int all = 0;
  for (const auto& one : from) all += std::ranges::count(places, one.where) > 0 ? one.weight : 0;
  auto left = static_cast<int>(random.below(static_cast<std::uint64_t>(all)));
  for (const auto& one : from) {
    if (std::ranges::count(places, one.where) == 0) continue;
    if ((left -= one.weight) < 0) return one;
  }
  return *std::begin(from);
}

// One story in this many is about quorum_mutex.
constexpr std::uint64_t stories_per_quorum = 16;

constexpr fault_kind of_calls[] = {fault_kind::request_delayed,
                                   fault_kind::reply_delayed,
                                   fault_kind::request_dropped,
                                   fault_kind::reply_dropped,
                                   fault_kind::reply_dropped,
                                   fault_kind::reply_dropped,
                                   fault_kind::connection_stalled,
                                   fault_kind::reply_stalled,
                                   fault_kind::connect_refused,
                                   fault_kind::connect_stalled,
                                   fault_kind::statement_timeout,
                                   fault_kind::statement_cancelled,
                                   fault_kind::deadlock_victim,
                                   fault_kind::disk_full,
                                   fault_kind::out_of_memory,
                                   fault_kind::denied,
                                   fault_kind::ghost,
                                   fault_kind::ghost,
                                   fault_kind::reply_dropped_alive};
constexpr fault_kind of_the_world[] = {
    fault_kind::ghosts_run,       fault_kind::ghosts_run,      fault_kind::wakeups_lost,
    fault_kind::wakeups_lost,     fault_kind::process_stalled, fault_kind::process_stalled_beyond_ttl,
    fault_kind::process_crashed,  fault_kind::server_crashed,  fault_kind::asynchronous_commits_lost,
    fault_kind::fail_over,        fault_kind::marker_lost,     fault_kind::network_cut,
    fault_kind::server_read_only, fault_kind::row_locked};
constexpr std::string_view verbs[] = {"",
                                      "",
                                      "acquire",
                                      "acquire",
                                      "release",
                                      "edit",
                                      "edit",
                                      "acquire_all",
                                      "renew",
                                      "renew",
                                      "find",
                                      "find",
                                      "kill",
                                      "hand_over",
                                      "enqueue",
                                      "create_lease",
                                      "record_database_state",
                                      "create",
                                      "read_held",
                                      "send_wakeups",
                                      "end",
                                      "find_stale",
                                      "show"};

options make_settings(random_stream& random, severity how) {
  options settings;
  constexpr std::array ttls{1500, 3000, 5000};
  const milliseconds ttl{ttls[random.below(ttls.size())]};
  settings.ttl = ttl;
  settings.margin = std::max<milliseconds>(milliseconds{150}, ttl / 8);
  settings.renew_interval = ttl / 3;
  settings.statement_timeout = ttl / 6;
  settings.connect_timeout = ttl / 6;
  settings.poll_interval =
      how == severity::calm ? milliseconds{4000} : milliseconds{random.between(200, 1500)};
  settings.sweep_interval = milliseconds{random.between(1000, 5000)};
  if (random.one_in(3)) settings.sweep_interval.reset();
  settings.close_timeout = milliseconds{1000};
  settings.application = "simulator";
  settings.connections = random.one_in(4) ? 2 : 3;
  return settings;
}

template <class Range, class Rare>
void add_operations(story& into, random_stream& random, const Range& usual, const Rare& rare,
                    const std::vector<place>& places) {
  for (std::size_t client = 0; client < into.clients.size(); ++client) {
    for (int thread = 0; thread < into.clients[client].threads; ++thread) {
      const auto many = random.between(3, 7);
      for (std::int64_t i = 0; i < many; ++i) {
        operation made;
        made.client = static_cast<int>(client) + 1;
        made.thread = thread;
        const auto chosen =
            random.one_in(12) ? pick(random, rare, {place::first_mutex}) : pick(random, usual, places);
        made.what = chosen.what;
        made.where = chosen.where;
        made.second = places[random.below(places.size())];
        if (random.one_in(8) && made.what == action::force) made.where = places[random.below(places.size())];
        made.pause =
            static_cast<nanoseconds>(random.below(600)) * (random.one_in(3) ? millisecond : 50 * microsecond);
        made.keep = static_cast<nanoseconds>(random.below(random.one_in(5) ? 2500 : 400)) * millisecond;
        made.limit = static_cast<nanoseconds>(random.below(random.one_in(3) ? 3000 : 300)) * millisecond;
        made.amount = random.between(1, semaphore_capacity);
        made.variety = random.next();
        made.number = static_cast<int>(into.operations.size());
        into.operations.push_back(made);
      }
    }
  }
}

void add_faults(story& into, random_stream& random) {
  const auto many = random.between(2, 12);
  const nanoseconds length = 5 * second;
  const auto any_client = [&] { return static_cast<int>(random.below(into.clients.size())) + 1; };
  const bool steps_clock = into.how == severity::unbounded && random.one_in(2);
  for (std::int64_t i = 0; i < many; ++i) {
    fault made;
    made.at = static_cast<nanoseconds>(random.below(static_cast<std::uint64_t>(length)));
    if (random.percent(60)) {
      made.kind = of_calls[random.below(std::size(of_calls))];
      made.verb = verbs[random.below(std::size(verbs))];
      made.client = random.one_in(3) ? 0 : any_client();
      made.length = static_cast<nanoseconds>(random.below(random.one_in(4) ? 900 : 120)) * millisecond;
      made.amount = random.one_in(4) ? random.between(2, 6) : 1;
      if (made.kind == fault_kind::connect_refused || made.kind == fault_kind::connect_stalled)
        made.verb = "connect";
      if (made.kind == fault_kind::ghost && !may_be_ghost(made.verb)) made.verb = "acquire";
    } else {
      made.kind = of_the_world[random.below(std::size(of_the_world))];
      made.client = any_client();
      made.length = static_cast<nanoseconds>(random.below(700) + 20) * millisecond;
      made.amount = random.between(1, 4);
      made.where = static_cast<place>(random.below(static_cast<std::uint64_t>(place::count)));
      if (made.kind == fault_kind::process_stalled_beyond_ttl) {
        made.length = static_cast<nanoseconds>(random.between(2000, 7000)) * millisecond;
      }
      const bool is_outage =
          made.kind == fault_kind::network_cut || made.kind == fault_kind::server_read_only;
      if (is_outage && random.one_in(4)) made.length *= 4;
      if (into.how == severity::unbounded) {
        if (random.one_in(2)) made.kind = fault_kind::fail_over;
        if (made.kind == fault_kind::fail_over && !steps_clock) made.kind = fault_kind::commits_lost;
        if (steps_clock && random.one_in(2)) {
          made.kind = fault_kind::clock_stepped;
          made.length = static_cast<nanoseconds>(random.between(-3000, 4000)) * millisecond;
        }
        made.amount = random.between(1, 12);
      }
    }
    made.number = static_cast<int>(into.faults.size());
    into.faults.push_back(made);
    // If a holder trusts its last renewal for too long, that shows only if no other renewal follows.
    if (made.kind == fault_kind::process_stalled_beyond_ttl && random.one_in(2)) {
      const auto& settings = into.clients[static_cast<std::size_t>(made.client) - 1].settings;
      fault before = made;
      before.kind = fault_kind::reply_delayed;
      before.verb = "renew";
      before.amount = 1;
      before.at = std::max<nanoseconds>(0, made.at - settings.ttl.count() * millisecond / 2);
      before.length = settings.statement_timeout.count() * millisecond * 9 / 10;
      before.number = static_cast<int>(into.faults.size());
      into.faults.push_back(before);
    }
  }
  // At most one client dies, so that another one is left to see it.
  bool dies = false;
  std::erase_if(into.faults, [&](const fault& one) {
    return one.kind == fault_kind::process_crashed && std::exchange(dies, true);
  });
}

// The connections lead to the nodes of a cluster, and some nodes lag behind.
void add_cluster(story& into, random_stream& random) {
  const auto many = random.between(3, 10);
  for (std::int64_t i = 0; i < many; ++i) {
    fault made;
    made.kind = fault_kind::node_behind;
    made.at = static_cast<nanoseconds>(random.below(5000)) * millisecond;
    made.length = static_cast<nanoseconds>(random.between(50, 4000)) * millisecond;
    made.amount = random.between(0, static_cast<std::int64_t>(cluster_nodes) - 1);
    made.number = static_cast<int>(into.faults.size());
    into.faults.push_back(made);
  }
  into.polls = true;  // servers of that kind send no wake-ups
}

// Adds an operation as the first of its thread. The operation's number decides its details: its remainder by four is
// given.
operation& add_first(story& into, int client, action what, place where, int remainder = 0) {
  operation made;
  made.client = client;
  made.what = what;
  made.where = where;
  for (const auto& one : into.operations) made.number = std::max(made.number, one.number + 1);
  while (made.number % 4 != remainder) ++made.number;
  made.variety = into.seed;
  return *into.operations.insert(into.operations.begin(), made);
}

// Loses a reply to a statement of that verb, at once or after the client has waited for it.
void lose_reply(story& into, random_stream& random, int client, std::string_view verb, nanoseconds at,
                std::int64_t spares) {
  constexpr fault_kind kinds[] = {fault_kind::reply_stalled, fault_kind::reply_stalled,
                                  fault_kind::reply_dropped, fault_kind::reply_dropped_alive};
  fault made;
  made.kind = kinds[random.below(std::size(kinds))];
  made.client = client;
  made.verb = verb;
  made.at = at;
  made.length = random.between(100, 800) * millisecond;
  made.amount = 1;
  made.spares = spares;
  made.number = static_cast<int>(into.faults.size());
  into.faults.push_back(made);
}

// A waiter requests its place again, because the reply was lost, while another client changes the capacity. So the
// request no longer fits the lock as it is, and yet may have been granted.
void add_resize_meets_waiter(story& into, random_stream& random) {
  into.clients[0].threads = std::max(into.clients[0].threads, 2);
  auto& holds = add_first(into, 1, action::permits, place::semaphore);
  holds.amount = semaphore_capacity;
  holds.keep = random.between(800, 3000) * millisecond;
  auto& resizes = add_first(into, 1, action::resize, place::semaphore);
  resizes.thread = 1;
  resizes.amount = 2;
  resizes.pause = random.between(60, 700) * millisecond;
  resizes.keep = random.between(1000, 12'000) * millisecond;
  auto& waits = add_first(into, 2, action::permits_within, place::semaphore);
  waits.amount = random.between(1, 2);
  waits.pause = random.between(40, 120) * millisecond;
  waits.limit = 5 * second;
  waits.keep = random.between(20, 400) * millisecond;
  lose_reply(into, random, 2, "edit", waits.pause, 0);
}

// Several locks are moved to leases of their own, and a reply to that is lost, while a rival waits for the end of the
// ttl.
void add_joint_ttl(story& into, random_stream& random) {
  constexpr action joint[] = {action::acquire_all, action::acquire_all_within, action::acquire_all_async,
                              action::acquire_all_async_within};
  auto& holds = add_first(into, 1, joint[random.below(std::size(joint))], place::first_mutex,
                          static_cast<int>(random.below(2)));
  holds.limit = 5 * second;
  holds.pause = random.between(10, 60) * millisecond;
  holds.keep = random.between(500, 3000) * millisecond;
  const auto begin = holds.pause;
  // Edits find that the locks are missing, acquire them, and move them.
  lose_reply(into, random, 1, "edit", begin, random.between(0, 3));
  auto& rival = add_first(into, 2, action::acquire, place::first_mutex);
  rival.pause = begin + random.between(20, 400) * millisecond;
  rival.keep = 50 * millisecond;
}

// A client dies with two locks, and two other clients wait for one each. The first one that looks kills the lease; the
// other one then waits for a holder that is dead already.
void add_two_wait_for_the_dead(story& into, random_stream& random) {
  while (into.clients.size() < 3) into.clients.push_back(into.clients.back());
  into.clients[0].threads = std::max(into.clients[0].threads, 2);
  const place locks[] = {place::first_mutex, place::second_mutex};
  for (int i = 0; i < 2; ++i) {
    auto& holds = add_first(into, 1, action::keep_to_the_end, locks[i]);
    holds.thread = i;
    auto& waits = add_first(into, i + 2, action::acquire, locks[i]);
    waits.pause = random.between(60, 300) * millisecond;
    waits.keep = random.between(20, 200) * millisecond;
  }
  auto& allows = add_first(into, 2, action::set_skew, place::first_mutex);
  allows.amount = random.between(1, semaphore_capacity);
  // At most one client dies.
  auto dies = std::ranges::find(into.faults, fault_kind::process_crashed, &fault::kind);
  if (dies == into.faults.end()) {
    fault made;
    made.kind = fault_kind::process_crashed;
    made.number = static_cast<int>(into.faults.size());
    dies = into.faults.insert(dies, made);
  }
  dies->client = 1;
  dies->at = random.between(400, 1500) * millisecond;
}

// A lock is released just when another client requests it, so the grant may overtake the answer to the request.
void add_release_meets_request(story& into, random_stream& random) {
  auto& holds = add_first(into, 1, action::acquire, place::first_mutex);
  holds.keep = random.between(20, 200) * millisecond;
  auto& waits = add_first(into, 2, action::acquire, place::first_mutex);
  waits.pause =
      holds.keep + static_cast<nanoseconds>(random.below(4 * static_cast<std::uint64_t>(into.latency)));
}

void put_in_order(story& of) {
  std::ranges::stable_sort(of.faults, {}, &fault::at);
  for (const auto& one : of.faults) {
    of.ends_faults = std::max(of.ends_faults, one.at + std::max<nanoseconds>(one.length, 0));
  }
}

// Decides the clients and how fast everything is. Adds no operations and no faults.
story begin_story(std::uint64_t seed, random_stream& random) {
  story made;
  made.seed = seed;
  const auto sort = random.below(100);
  made.how = sort < 20 ? severity::calm : sort < 80 ? severity::bounded : severity::unbounded;

  constexpr std::array<std::uint64_t, 5> paces{12, 30, 60, 120, 300};
  made.switches.points_per_switch = paces[random.below(paces.size())];
  made.switches.by_priority = random.one_in(4);
  if (made.how != severity::calm && random.one_in(2)) {
    made.switches.points_per_delay = 400;
    made.switches.longest_delay = 8 * millisecond;
    made.switches.waits_per_spurious = 200;
  }
  made.latency = static_cast<nanoseconds>(random.between(20, 2000)) * microsecond;
  made.polls = random.one_in(6);

  const auto clients = random.between(2, 3);
  const options settings = make_settings(random, made.how);
  for (std::int64_t i = 0; i < clients; ++i) {
    client_plan plan;
    plan.settings = random.one_in(2) ? settings : make_settings(random, made.how);
    if (made.how == severity::calm) plan.settings = settings;
    if (random.one_in(2)) {
      // The clock drifts by half of the margin within a ttl, against a server that drifts as much the other way.
      const auto part = plan.settings.margin.count() * 1'000'000 / plan.settings.ttl.count() / 3;
      plan.clock.parts_per_million = random.between(-part, part);
    }
    plan.clock.offset = static_cast<nanoseconds>(random.below(1000)) * second;
    plan.threads = static_cast<int>(random.between(1, 3));
    if (random.one_in(5)) plan.slow_log = static_cast<nanoseconds>(random.between(1, 400)) * millisecond;
    if (random.one_in(6)) plan.slow_callback = static_cast<nanoseconds>(random.between(1, 300)) * millisecond;
    made.clients.push_back(plan);
  }
  made.server_clocks.emplace_back();
  if (random.one_in(3)) made.server_clocks.front().parts_per_million = random.between(-15'000, 15'000);
  return made;
}

constexpr weighted_action of_quorums[] = {{action::acquire_within, place::first_mutex, 12},
                                          {action::try_acquire, place::first_mutex, 6},
                                          {action::acquire, place::first_mutex, 4},
                                          {action::acquire_stopped, place::first_mutex, 2},
                                          {action::acquire_with_ttl, place::first_mutex, 3},
                                          {action::keep_to_the_end, place::first_mutex, 1},
                                          {action::force, place::first_mutex, 2},
                                          {action::sweep, place::first_mutex, 1}};

// A majority cannot be reached for longer than the ttl, while the holder still renews its hold on the last member, and
// another client waits.
void add_majority_is_cut(story& into, random_stream& random) {
  const auto ttl = into.clients.front().settings.ttl.count() * millisecond;
  add_first(into, 1, action::acquire, place::first_mutex).keep = 3 * ttl;
  auto& waits = add_first(into, 2, action::acquire, place::first_mutex);
  waits.pause = 300 * millisecond;
  waits.keep = 50 * millisecond;
  const auto spared = random.below(quorum_members);
  const auto at = random.between(300, 1500) * millisecond;
  for (std::size_t i = 0; i < quorum_members; ++i) {
    if (i == spared) continue;
    fault made;
    made.kind = fault_kind::network_cut;
    made.at = at;
    made.length = ttl + random.between(0, 600) * millisecond;
    made.server = i;
    made.number = static_cast<int>(into.faults.size());
    into.faults.push_back(made);
  }
}

// Users of quorum_mutex. In half of the stories only one of its databases fails, in the others any of them.
story make_quorum_story(std::uint64_t seed) {
  random_stream random{seed, 14};
  story made = begin_story(seed, random);
  for (std::size_t i = 1; i < quorum_members; ++i) {
    drifting_clock clock;
    if (random.one_in(3)) clock.parts_per_million = random.between(-15'000, 15'000);
    made.server_clocks.push_back(clock);
  }
  add_operations(made, random, of_quorums, of_quorums, {place::first_mutex});
  if (made.how == severity::calm) return made;
  add_faults(made, random);
  const bool one_fails = random.one_in(2);
  const auto weakest = random.below(quorum_members);
  for (auto& one : made.faults) {
    one.where = place::first_mutex;
    const bool of_a_process = one.kind == fault_kind::process_stalled ||
                              one.kind == fault_kind::process_stalled_beyond_ttl ||
                              one.kind == fault_kind::process_crashed;
    // If a promotion loses a token that came from another member's later promotion, tokens may fall. The design permits
    // that.
    const bool promotes = one.kind == fault_kind::fail_over || one.kind == fault_kind::commits_lost;
    one.server = of_a_process ? 0 : one_fails || promotes ? weakest : random.below(quorum_members);
  }
  if (random.one_in(5)) add_majority_is_cut(made, random);
  put_in_order(made);
  return made;
}

}  // namespace

std::string_view to_string(severity how) {
  constexpr std::string_view names[] = {"calm", "bounded", "unbounded"};
  return names[static_cast<std::size_t>(how)];
}

std::string name_of(place where) {
  constexpr std::string_view names[] = {"mutex/a", "mutex/b", "unfair",  "delayed", "shared",
                                        "slots",   "latch",   "barrier", "office",  "recursive"};
  static_assert(std::size(names) == static_cast<std::size_t>(place::count));
  return std::string{names[static_cast<std::size_t>(where)]};
}

bool may_be_ghost(std::string_view verb) {
  return verb != "edit" && verb != "end_ghost" && verb != "listen" && verb != "poll_wakeups";
}

std::string_view to_string(action what) {
  constexpr std::string_view names[] = {"acquire",
                                        "try_acquire",
                                        "try_acquire_for",
                                        "acquire, to be stopped",
                                        "acquire with a ttl",
                                        "acquire with min_hold",
                                        "lock",
                                        "lock_shared",
                                        "acquire nested",
                                        "acquire_shared",
                                        "try_acquire_shared_for",
                                        "acquire to write",
                                        "downgrade",
                                        "try_upgrade",
                                        "acquire permits",
                                        "try_acquire_for permits",
                                        "drain",
                                        "resize",
                                        "acquire again",
                                        "count_down",
                                        "wait at the latch",
                                        "wait_async",
                                        "reset",
                                        "arrive_and_wait_for",
                                        "arrive_async",
                                        "abandon an arrival",
                                        "campaign",
                                        "stand as a candidate",
                                        "observe",
                                        "acquire_all",
                                        "try_acquire_all_for",
                                        "acquire_all_async",
                                        "try_acquire_all_async",
                                        "abandon an asynchronous acquire of several",
                                        "acquire_async",
                                        "try_acquire_async",
                                        "abandon an asynchronous acquire",
                                        "transfer",
                                        "extend",
                                        "adopt",
                                        "reclaim",
                                        "release by force",
                                        "request_release",
                                        "sweep",
                                        "collect",
                                        "list, show and queue",
                                        "record",
                                        "raise_epoch",
                                        "set_skew",
                                        "guarded write",
                                        "acquire, and keep it",
                                        "close and connect",
                                        "close meanwhile",
                                        "acquire as another kind"};
  static_assert(std::size(names) == static_cast<std::size_t>(action::count));
  return names[static_cast<std::size_t>(what)];
}

bool story::has(fault_kind kind) const {
  return std::ranges::any_of(faults, [&](const fault& one) { return one.kind == kind; });
}

bool story::has(action what) const {
  return std::ranges::any_of(operations, [&](const operation& one) { return one.what == what; });
}

story make_story(std::uint64_t seed) {
  if (seed % stories_per_quorum == 0) return make_quorum_story(seed);
  random_stream random{seed, 10};
  story made = begin_story(seed, random);
  std::vector<place> places;
  for (int i = 0; i < static_cast<int>(place::count); ++i) {
    if (random.one_in(3)) places.push_back(static_cast<place>(i));
  }
  if (places.empty())
    places.push_back(static_cast<place>(random.below(static_cast<std::uint64_t>(place::count))));
  if (places.size() > 4) places.resize(4);
  add_operations(made, random, common, of_operators, places);
  if (made.how != severity::calm) {
    add_faults(made, random);
    random_stream of_cluster{seed, 11};
    if (of_cluster.one_in(5)) add_cluster(made, of_cluster);
    random_stream of_meetings{seed, 12};
    switch (of_meetings.below(10)) {
      case 0: add_resize_meets_waiter(made, of_meetings); break;
      case 1: add_joint_ttl(made, of_meetings); break;
      case 2: add_two_wait_for_the_dead(made, of_meetings); break;
      default: break;
    }
    put_in_order(made);
  } else if (random_stream of_meetings{seed, 12}; of_meetings.one_in(8)) {
    add_release_meets_request(made, of_meetings);
  }
  // An epoch that is raised by hand is ahead of the clock. If a fail-over loses that commit, the next epoch is lower.
  if (made.has(fault_kind::commits_lost)) {
    for (auto& one : made.operations) {
      if (one.what == action::raise_epoch) one.what = action::sweep;
    }
  }
  return made;
}

void leave_out(story& from, const omissions& what) {
  std::erase_if(from.operations, [&](const operation& one) { return what.operations.contains(one.number); });
  std::erase_if(from.faults, [&](const fault& one) { return what.faults.contains(one.number); });
  if (what.calm_scheduling) {
    from.switches.points_per_delay = 0;
    from.switches.waits_per_spurious = 0;
    from.switches.by_priority = false;
    from.switches.points_per_switch = 1'000'000;
  }
}

}  // namespace rowlock::simulator
