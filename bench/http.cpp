// Pairs of PUT and DELETE at a `rowlock serve` of the scenario's own, by clients that keep their connections.
#include "bench/contest.hpp"
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"
#include "bench/serve_process.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

void pair(http_connection& client, int number) {
  const auto hold = next_hold(number);
  client.ask("PUT " + hold, R"({"ttl_ms":30000})");
  client.ask("DELETE " + hold);
}

result measure_http(const plan& plan, int count, floor_database& database, const serve_process& server,
                    const rowlock::client& client, const own_locks& locks) {
  const auto slice = plan.slice.value_or(2s);
  std::vector<std::unique_ptr<http_connection>> clients;
  for (int i = 0; i < count; ++i) clients.push_back(std::make_unique<http_connection>(server));
  const auto one_pair = [&](int i) { pair(*clients[static_cast<std::size_t>(i)], i); };
  for_each_parallel(count, count, one_pair);
  pair_rates http{database, {}};
  pair_rates library{database, {client}};
  in_turn(
      plan.rounds, [&] { http.measure(count, slice, one_pair); },
      [&] { library.measure(count, slice, [&](int i) { locks.pair(i); }); });
  auto one = compared(plan, "http", count, database, http, library);
  one.details["floor_is"] = "the library, with as many threads";
  return one;
}

}  // namespace

std::vector<result> http(const plan& plan) {
  const auto counts = plan.threads ? std::vector{*plan.threads} : std::vector{1, 64, 256};
  const auto database = open_floor(plan);
  const serve_process server{plan, {"--metrics-every", "0"}};
  const auto client = rowlock::connect(plan.url, plan.settings);
  const own_locks locks{client, "http", counts.back()};
  std::vector<result> all;
  for (const auto count : counts) all.push_back(measure_http(plan, count, *database, server, client, locks));
  return all;
}

}  // namespace rowlock::bench
