// What calls cost beside time: of this process, of the server and of its log.
#pragma once

#include "bench/floor.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rowlock::bench {

struct process_usage {
  std::chrono::nanoseconds cpu{0};
  std::int64_t voluntary_switches = 0;  // how often a thread gave up its processor, to wait

  process_usage& operator+=(const process_usage& more);
  friend process_usage operator-(process_usage of, const process_usage& before);
};

// What all threads of this process have used until now.
process_usage own_usage();

// The sum of several measurements of one side of a comparison.
class call_costs {
 public:
  void begin(floor_database& database);
  // The calls were completed since begin(), and cost their processes this.
  void end(floor_database& database, std::uint64_t calls, const process_usage& client);

  // Adds <prefix>client_cpu_us_per_pair, <prefix>context_switches_per_pair, and what the database shows of
  // <prefix>server_cpu_us_per_pair and <prefix>wal_bytes_per_pair. Requires: there were calls.
  void describe(nlohmann::ordered_json& details, const std::string& prefix = "") const;

 private:
  struct server_side {
    std::optional<std::chrono::nanoseconds> cpu;
    std::optional<std::int64_t> wal_bytes;
  };
  static server_side look_at(floor_database& database);

  server_side begun_;
  process_usage client_;
  server_side sum_{std::chrono::nanoseconds{0}, 0};  // a part is empty as soon as it could not be read
  std::uint64_t calls_ = 0;
};

}  // namespace rowlock::bench
