// A process that has no file descriptor left cannot connect until it has one again.
#include "client/client_test.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace rowlock::test {
namespace {

// While the object lives, this process can open that many more files.
class room_for_files {
 public:
  explicit room_for_files(std::size_t count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto lower = before_;
    lower.rlim_cur = 200;
    ::setrlimit(RLIMIT_NOFILE, &lower);
    for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(fd);
    for (; count > 0 && !taken_.empty(); --count) give_back();
  }
  ~room_for_files() {
    while (!taken_.empty()) give_back();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  room_for_files(const room_for_files&) = delete;
  room_for_files& operator=(const room_for_files&) = delete;

 private:
  void give_back() {
    ::close(taken_.back());
    taken_.pop_back();
  }

  rlimit before_{};
  std::vector<int> taken_;
};

class descriptor_test : public client_test {};

TEST_P(descriptor_test, none_left_is_unreachable_and_not_for_ever) {
  options settings = patient();
  settings.prefix = fixture().options().prefix;
  int refused = 0;
  bool connected = false;
  for (std::size_t free = 0; free < 40 && !connected; ++free) {
    const room_for_files room{free};
    try {
      const client db = connect(fixture().url(), settings);
      connected = mutex(db, "a").try_acquire().valid();
    } catch (const error& failure) {
      EXPECT_EQ(failure.code(), errc::unreachable) << free << " left: " << failure.what();
      ++refused;
    }
  }
  EXPECT_TRUE(connected);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(stores, descriptor_test,
                         testing::ValuesIn(selected_of({"sqlite", "postgres", "mariadb", "mysql"})),
                         store_test_name);

}  // namespace
}  // namespace rowlock::test
