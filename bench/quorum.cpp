#include "bench/call_rates.hpp"
#include "bench/contest.hpp"
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/own_tables.hpp"
#include "bench/scenario.hpp"

#include <fmt/format.h>

#include <barrier>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

// The members are three sets of tables in one database, because a quorum sends the same statements to one database as
// to three.
constexpr int member_count = 3;

// A round: one durable update at each member, all at once.
class rounds {
 public:
  explicit rounds(std::deque<own_tables>& members) {
    for (auto& one : members) connections_.push_back(one.floor().connect(0));
    for (auto& connection : connections_) {
      threads_.emplace_back([this, raw = connection.get()] { run(*raw); });
    }
  }
  ~rounds() {
    over_ = true;
    begin_.arrive_and_wait();
  }
  rounds(const rounds&) = delete;
  rounds& operator=(const rounds&) = delete;

  void round() {
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
    if (failure_.failed()) failure_.rethrow();
  }

 private:
  void run(floor_connection& connection) {
    for (;;) {
      begin_.arrive_and_wait();
      if (over_) return;
      try {
        connection.update();
      } catch (...) {
        failure_.capture();
      }
      end_.arrive_and_wait();
    }
  }

  std::vector<std::unique_ptr<floor_connection>> connections_;
  std::barrier<> begin_{member_count + 1};
  std::barrier<> end_{member_count + 1};
  bool over_ = false;
  first_failure failure_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::vector<result> quorum(const plan& plan) {
  auto slice = plan.slice.value_or(2s);
  std::deque<own_tables> members;
  std::vector<rowlock::client> clients;
  for (int i = 1; i <= member_count; ++i) {
    clients.push_back(members.emplace_back(plan, fmt::format("quorum{}", i)).client());
  }
  rounds floor{members};
  rowlock::quorum_mutex global{clients, "bench/global"};
  auto pair = [&](int) { require_released(global.acquire().release()); };
  pair(0);

  // All members are on one server.
  auto& database = members.front().floor();
  pair_rates own{database, clients};
  call_rates plain{database};
  call_rates with_token{database};
  auto measure_floor = [&](call_rates& rates, int count) {
    rates.measure(1, slice, [&](int) {
      for (int i = 0; i < count; ++i) floor.round();
    });
  };
  in_turn(
      plan.rounds, [&] { own.measure(1, slice, pair); },
      [&] {
        measure_floor(plain, 2);
        measure_floor(with_token, 3);
      });
  auto one = compared(plan, "quorum", 1, database, own, plain);
  one.details["members"] = member_count;
  // If there were more than two statements for each member, the tokens differed, and a round was needed to raise them.
  one.details["floor_with_a_round_for_the_token"] = with_token.per_second();
  return {one};
}

}  // namespace rowlock::bench
