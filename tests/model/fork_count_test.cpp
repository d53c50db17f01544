#include "model/fork_count.hpp"

#include "support/background.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <future>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace rowlock::test {
namespace {

TEST(fork_count_test, is_the_same_for_all_threads_at_all_times) {
  const auto first = model::fork_count();
  std::vector<std::future<std::uint64_t>> others;
  for (int i = 0; i < 8; ++i) others.push_back(in_background([] { return model::fork_count(); }));
  for (auto& other : others) EXPECT_EQ(other.get(), first);
  EXPECT_EQ(model::fork_count(), first);
}

// Forks that many generations. Each writes whether its number is unlike those of all its ancestors.
void descend(std::set<std::uint64_t> ancestors, int generations, int to) {
  const bool is_new = ancestors.insert(model::fork_count()).second && ancestors.contains(model::fork_count());
  std::ignore = ::write(to, is_new ? "y" : "n", 1);
  if (generations == 0) return;
  const pid_t child = ::fork();
  if (child != 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  descend(ancestors, generations - 1, to);
  ::_exit(0);
}

TEST(fork_count_test, differs_between_a_process_and_those_it_was_forked_from) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  descend({}, 3, ends[1]);
  char told[4]{};
  EXPECT_EQ(::read(ends[0], told, sizeof told), 4);
  EXPECT_EQ((std::string{told, sizeof told}), "yyyy");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace rowlock::test
