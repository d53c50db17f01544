// Makes allocations fail: this program's operator new throws std::bad_alloc where a test says so.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowlock::test {

// Fails the allocation with that number, counted from 0, and those behind it if the shortage lasts. One object of these
// at a time.
class failing_memory {
 public:
  enum class shortage { once, lasting };

  // Of the calling thread.
  explicit failing_memory(std::uint64_t number, shortage how = shortage::once);
  // Of the threads with that name that have made their first allocation since that moment.
  failing_memory(std::uint64_t number, std::string_view thread, unsigned since,
                 shortage how = shortage::once);
  ~failing_memory();
  failing_memory(const failing_memory&) = delete;
  failing_memory& operator=(const failing_memory&) = delete;

  // A moment, for the constructor.
  static unsigned now();
  // From now on no allocation fails. Returns whether one has failed. Any thread, except for the calling thread's memory.
  bool stop();

  // Allocations of the calling thread are spared, or not: those of what stands for a server.
  static void spare(bool spared);
};

}  // namespace rowlock::test
