#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

// Each shard's process loads its data and then counts down. It may end before the others have begun.
void load_shard(rowlock::client db, const std::string& release, std::int64_t shards,
                const std::function<void()>& load) {
  rowlock::latch loaded{db, release + "/loaded", shards};
  load();
  loaded.count_down();
}

// The router sends requests when all shards are loaded. False: at least one of them is not.
bool all_are_loaded(rowlock::client db, const std::string& release, std::int64_t shards,
                    std::chrono::milliseconds patience) {
  return rowlock::latch{db, release + "/loaded", shards}.wait_for(patience);
}
