#include "bench/call_rates.hpp"

#include "bench/measure.hpp"

namespace rowlock::bench {

void call_rates::measure(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& call) {
  costs_.begin();
  const auto before = own_usage();
  const auto done = repeat_calls(threads, slice, call);
  costs_.end(done.calls, own_usage() - before);
  rates_.push_back(done.per_second);
  calls_ += done.calls;
}

double call_rates::per_second() const {
  return median(rates_);
}

void call_rates::describe(nlohmann::ordered_json& details, const std::string& prefix) const {
  costs_.describe(details, prefix);
}

void pair_rates::measure(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& pair) {
  const auto before = statements();
  pairs_.measure(threads, slice, pair);
  statements_ += statements() - before;
}

void pair_rates::describe(nlohmann::ordered_json& details) const {
  details["client_statements_per_pair"] =
      static_cast<double>(statements_) / static_cast<double>(pairs_.calls());
  pairs_.describe(details);
}

std::uint64_t pair_rates::statements() const {
  std::uint64_t sum = 0;
  for (const rowlock::client& client : clients_) sum += client.stats().statements;
  return sum;
}

}  // namespace rowlock::bench
