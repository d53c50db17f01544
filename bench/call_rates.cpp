#include "bench/call_rates.hpp"

namespace rowlock::bench {

void call_rates::measure(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& call) {
  measure([&] { return repeat_calls(threads, slice, call); });
}

void call_rates::measure(const std::function<repeated()>& repeat) {
  costs_.begin(*database_);
  const auto before = own_usage();
  const auto done = repeat();
  costs_.end(*database_, done.calls, own_usage() - before);
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
  measure([&] { return repeat_calls(threads, slice, pair); });
}

void pair_rates::measure(const std::function<repeated()>& repeat) {
  const auto before = statements();
  pairs_.measure(repeat);
  statements_ += statements() - before;
}

void pair_rates::describe(nlohmann::ordered_json& details, const std::string& prefix) const {
  details[prefix + "client_statements_per_pair"] =
      static_cast<double>(statements_) / static_cast<double>(pairs_.calls());
  pairs_.describe(details, prefix);
}

std::uint64_t pair_rates::statements() const {
  std::uint64_t sum = 0;
  for (const rowlock::client& client : clients_) sum += client.stats().statements;
  return sum;
}

}  // namespace rowlock::bench
