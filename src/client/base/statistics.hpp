// The client's counters, as atomics.
#pragma once

#include <rowlock/client.hpp>

#include <atomic>

namespace rowlock::client_layer {

struct counters {
  std::atomic<std::uint64_t> acquired{0}, released{0}, busy{0}, waits{0}, lost{0}, renewals{0},
      late_renewals{0}, reconnects{0}, statements{0};

  statistics read() const {
    return {acquired.load(), released.load(),      busy.load(),       waits.load(),     lost.load(),
            renewals.load(), late_renewals.load(), reconnects.load(), statements.load()};
  }
};

}  // namespace rowlock::client_layer
