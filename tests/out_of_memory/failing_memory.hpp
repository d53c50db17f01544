// Makes allocations fail: this program's operator new throws std::bad_alloc where a test says so.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowlock::test {

// Fails the allocation with that number, counted from 0, and the later ones if the shortage lasts. Only one such object
// may exist at a time.
class failing_memory {
 public:
  enum class shortage { once, lasting };

  // Fails allocations of the calling thread.
  explicit failing_memory(std::uint64_t number, shortage how = shortage::once);
  // Fails allocations of threads with that name that have made their first allocation since that moment.
  failing_memory(std::uint64_t number, std::string_view thread, unsigned since,
                 shortage how = shortage::once);
  ~failing_memory();
  failing_memory(const failing_memory&) = delete;
  failing_memory& operator=(const failing_memory&) = delete;

  // The present moment, for the constructor.
  static unsigned now();
  // From now on no allocation fails. Returns whether one has failed. Any thread may call it, but if the calling
  // thread's allocations fail, only that thread.
  bool stop();

  // Exempts the calling thread's allocations, or not: code that stands in for a server does not run out of memory.
  static void spare(bool spared);
};

}  // namespace rowlock::test
