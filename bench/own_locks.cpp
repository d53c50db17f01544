#include "bench/own_locks.hpp"

#include "bench/measure.hpp"

#include <fmt/format.h>

namespace rowlock::bench {

own_locks::own_locks(const rowlock::client& client, const std::string& stem, int count) {
  for (int i = 0; i < count; ++i) {
    mutexes_.push_back(std::make_unique<rowlock::mutex>(client, fmt::format("bench/{}/{}", stem, i)));
  }
  for_each_parallel(count, 16, [this](int i) { pair(i); });
}

void own_locks::pair(int caller) const {
  require_released(of(caller).acquire().release());
}

}  // namespace rowlock::bench
