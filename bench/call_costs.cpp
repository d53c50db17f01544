#include "bench/call_costs.hpp"

#include "bench/measure.hpp"
#include "bench/server_usage.hpp"

#include <sys/resource.h>

namespace rowlock::bench {

namespace {

// Adds the difference; a value that is not known makes the sum unknown.
template <class Value>
void add(std::optional<Value>& sum, const std::optional<Value>& before, const std::optional<Value>& after) {
  if (sum && before && after) {
    *sum += *after - *before;
  } else {
    sum.reset();
  }
}

}  // namespace

process_usage& process_usage::operator+=(const process_usage& more) {
  cpu += more.cpu;
  voluntary_switches += more.voluntary_switches;
  return *this;
}

process_usage operator-(process_usage of, const process_usage& before) {
  of.cpu -= before.cpu;
  of.voluntary_switches -= before.voluntary_switches;
  return of;
}

process_usage own_usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {.cpu = cpu_time(), .voluntary_switches = used.ru_nvcsw};
}

call_costs::server_side call_costs::look_at(floor_database& database) {
  return {server_usage{database.server_process()}.cpu_time(), database.wal_bytes()};
}

void call_costs::begin(floor_database& database) {
  begun_ = look_at(database);
}

void call_costs::end(floor_database& database, std::uint64_t calls, const process_usage& client) {
  const auto now = look_at(database);
  add(sum_.cpu, begun_.cpu, now.cpu);
  add(sum_.wal_bytes, begun_.wal_bytes, now.wal_bytes);
  client_ += client;
  calls_ += calls;
}

void call_costs::describe(nlohmann::ordered_json& details, const std::string& prefix) const {
  const auto calls = static_cast<double>(calls_);
  const auto us_per_call = [&](std::chrono::nanoseconds all) {
    return std::chrono::duration<double, std::micro>(all).count() / calls;
  };
  details[prefix + "client_cpu_us_per_pair"] = us_per_call(client_.cpu);
  if (sum_.cpu) details[prefix + "server_cpu_us_per_pair"] = us_per_call(*sum_.cpu);
  details[prefix + "context_switches_per_pair"] = static_cast<double>(client_.voluntary_switches) / calls;
  if (sum_.wal_bytes) details[prefix + "wal_bytes_per_pair"] = static_cast<double>(*sum_.wal_bytes) / calls;
}

}  // namespace rowlock::bench
