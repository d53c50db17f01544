// The floor of many that want one name: all connections update the same row, so each waits until the others have
// committed.
#pragma once

#include "bench/call_rates.hpp"
#include "bench/floor.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace rowlock::bench {

class hot_row {
 public:
  hot_row(floor_database& database, int connections);

  void measure(std::chrono::nanoseconds slice);
  const call_rates& rates() const { return rates_; }

 private:
  std::vector<std::unique_ptr<floor_connection>> connections_;
  call_rates rates_;
};

}  // namespace rowlock::bench
