// What the kernel shows of this process's threads.
#pragma once

#include <string>
#include <vector>

namespace rowlock::test {

struct thread_state {
  std::string name;
  bool sleeps = false;
};

// Of all but the one that asks.
std::vector<thread_state> other_threads();

}  // namespace rowlock::test
