// How fast one side of a comparison repeats its calls, and what a call costs.
#pragma once

#include "bench/call_costs.hpp"
#include "bench/measure.hpp"

#include <rowlock/client.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::bench {

class call_rates {
 public:
  // The database must outlive the object.
  explicit call_rates(floor_database& database) : database_{&database} {}

  // Measures once more: repeats call(i) in `threads` threads for `slice`, as repeat_calls.
  void measure(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& call);
  // The same if the caller repeats the calls itself.
  void measure(const std::function<repeated()>& repeat);

  double per_second() const;  // the median
  // Adds what call_costs::describe adds. Requires: something was measured.
  void describe(nlohmann::ordered_json& details, const std::string& prefix = "") const;
  std::uint64_t calls() const { return calls_; }

 private:
  floor_database* database_;
  std::vector<double> rates_;
  call_costs costs_;
  std::uint64_t calls_ = 0;
};

// Rowlock's side of a comparison: pairs of acquire and release, and the statements that the clients sent for them.
class pair_rates {
 public:
  pair_rates(floor_database& database, std::vector<rowlock::client> clients)
      : clients_{std::move(clients)}, pairs_{database} {}

  // As those of call_rates. Nothing else may run on the clients meanwhile.
  void measure(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& pair);
  void measure(const std::function<repeated()>& repeat);

  double per_second() const { return pairs_.per_second(); }
  // Adds client_statements_per_pair, and what call_rates adds. The statements are those of all clients together: an
  // edit counts as one, however many round trips it takes.
  void describe(nlohmann::ordered_json& details, const std::string& prefix = "") const;

 private:
  std::uint64_t statements() const;

  std::vector<rowlock::client> clients_;
  call_rates pairs_;
  std::uint64_t statements_ = 0;
};

}  // namespace rowlock::bench
