#include "bench/hot_row.hpp"

namespace rowlock::bench {

hot_row::hot_row(floor_database& database, int connections) : rates_{database} {
  for (int i = 0; i < connections; ++i) connections_.push_back(database.connect(0));
}

void hot_row::measure(std::chrono::nanoseconds slice) {
  rates_.measure(static_cast<int>(connections_.size()), slice,
                 [this](int i) { connections_[static_cast<std::size_t>(i)]->pair(); });
}

}  // namespace rowlock::bench
