#include "support/threads.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rowlock::test {

std::vector<thread_state> other_threads() {
  const auto self = std::to_string(::gettid());
  std::vector<thread_state> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == self) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    // The format is "id (name) state …". The file of a thread that has just ended is unreadable.
    const auto name = stat.find('(');
    const auto end = stat.rfind(") ");
    if (name == std::string::npos || end == std::string::npos) continue;
    found.push_back({stat.substr(name + 1, end - name - 1), stat.at(end + 2) == 'S'});
  }
  return found;
}

}  // namespace rowlock::test
