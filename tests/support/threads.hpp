// What the kernel shows of this process's threads.
#pragma once

#include <string>
#include <vector>

namespace rowlock::test {

struct thread_state {
  std::string name;
  bool sleeps = false;
};

// All threads except the calling one.
std::vector<thread_state> other_threads();

}  // namespace rowlock::test
