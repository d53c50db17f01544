// A scrape of a `rowlock serve` of the scenario's own beside many locks.
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"
#include "bench/serve_process.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

// The value of the line that begins with this, once it is there.
double value_of(http_connection& connection, const std::string& label) {
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  for (;;) {
    const auto text = connection.ask("GET /metrics");
    if (const auto at = text.find('\n' + label + ' '); at != text.npos) {
      return std::stod(text.substr(at + label.size() + 2));
    }
    if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("/metrics has no " + label);
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

std::vector<result> http_metrics(const plan& plan) {
  const int count = plan.threads.value_or(10'000);
  const auto slice = plan.slice.value_or(2s);
  const auto database = open_floor(plan);
  const auto client = rowlock::connect(plan.url, plan.settings);
  const own_locks locks{client, "metrics", count};
  const serve_process server{plan};
  http_connection connection{server};
  const auto stored = value_of(connection, "rowlock_locks");

  std::vector<double> own;
  std::vector<double> floor;
  const auto repeat = [&](const char* what, std::vector<double>& into) {
    const auto end = std::chrono::steady_clock::now() + slice;
    while (std::chrono::steady_clock::now() < end) {
      const auto begun = monotonic_ns();
      connection.ask(what);
      into.push_back(static_cast<double>(monotonic_ns() - begun) / 1e6);
    }
  };
  in_turn(
      plan.rounds, [&] { repeat("GET /metrics", own); }, [&] { repeat("GET /healthz", floor); });

  result one;
  one.scenario = "http-metrics";
  one.threads = count;
  one.unit = "ms for a scrape";
  one.rowlock = median(own);
  one.floor = median(floor);
  one.durability = database->durability();
  const std::string readings = "rowlock_serve_call_seconds_{}{{call=\"list\"}}";
  const auto number = value_of(connection, fmt::format(fmt::runtime(readings), "count"));
  one.details["floor_is"] = "GET /healthz";
  one.details["p99_ms"] = quantile(own, 0.99);
  one.details["locks"] = stored;
  one.details["pages_read"] = number;
  one.details["ms_per_page"] =
      value_of(connection, fmt::format(fmt::runtime(readings), "sum")) / number * 1e3;
  one.details["rounds"] = plan.rounds;
  rowlock::admin{client}.collect(0s);
  return {one};
}

}  // namespace rowlock::bench
