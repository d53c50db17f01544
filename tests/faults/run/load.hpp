// What the worker processes do under faults: they lock, write under the guard, release, and write a history.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::test {

// A wrong behaviour of a worker on purpose, which shows that the checks notice it.
enum class planted {
  nothing,
  unguarded,  // it writes without the guard, also after its hold was lost
  deaf,       // it ignores the loss of its hold, and so claims the hold until its release
};
const char* to_string(planted what) noexcept;

struct load_settings {
  std::string url;
  std::string application_url;  // of the worker's own connections, which write
  std::string listen_url;       // a URL that bypasses the pooler; may be empty
  std::string row;              // the beginning of the locks' names, and of the ledger's tables
  std::string folder;           // of the histories
  std::chrono::milliseconds ttl{0};
  std::uint64_t seed = 0;
  planted fault = planted::nothing;

  std::vector<std::string> mutexes() const { return {row + "/one", row + "/two", row + "/three"}; }
  std::string semaphore() const { return row + "/pair"; }
  std::vector<std::string> names() const;
  std::string ledger_prefix() const;
};

inline constexpr std::int64_t permits = 2;  // permits of the semaphore
inline constexpr int threads = 2;           // threads of a worker

// The first argument of a program that is such a worker.
inline constexpr const char* worker_word = "--as-worker";
std::vector<std::string> words_of(const load_settings& settings);
load_settings load_of(const std::vector<std::string>& words);

// Works until SIGTERM. Returns the exit code.
int run_load(const load_settings& settings);

}  // namespace rowlock::test
