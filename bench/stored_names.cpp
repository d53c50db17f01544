#include "bench/stored_names.hpp"

#include "store/open.hpp"

#include <fmt/format.h>

#include <chrono>
#include <vector>

namespace rowlock::bench {

std::string stored_name(int i) {
  return fmt::format("bench/stored/{:08}", i);
}

void create_names(const plan& plan, int count) {
  constexpr std::size_t names_per_statement = 1000;
  store::store_options options;
  options.prefix = plan.settings.prefix;
  options.schema = plan.settings.schema;
  options.statement_timeout = std::chrono::seconds{60};
  const auto session = store::open(plan.url, options)->connect();
  std::vector<model::lock_definition> some;
  for (int i = 0; i < count; ++i) {
    some.push_back({stored_name(i), model::lock_kind::mutex, 1});
    if (some.size() < names_per_statement && i + 1 < count) continue;
    session->create(some);
    some.clear();
  }
}

}  // namespace rowlock::bench
