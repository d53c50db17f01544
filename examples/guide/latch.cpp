#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

// Each shard's process loads its data, then counts down. It may end before the others have started.
void load_shard(rowlock::client db, const std::string& release, std::int64_t shards,
                const std::function<void()>& load) {
  rowlock::latch loaded{db, release + "/loaded", shards};
  load();
  loaded.count_down();
}

// The router sends requests to the shards when all have loaded. False: one of them is still loading.
bool all_are_loaded(rowlock::client db, const std::string& release, std::int64_t shards,
                    std::chrono::milliseconds patience) {
  return rowlock::latch{db, release + "/loaded", shards}.wait_for(patience);
}
