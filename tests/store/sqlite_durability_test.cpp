// What is on disk before it is answered.
#include "sqlite_test.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {
std::atomic<int> syncs{0};
}

// SQLite calls this function: a program's symbols precede those of the libraries that it loads.
extern "C" __attribute__((visibility("default"))) int fdatasync(int descriptor) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fdatasync, descriptor));
}
extern "C" __attribute__((visibility("default"))) int fsync(int descriptor) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace rowlock::test {
namespace {

class sqlite_durability_test : public sqlite_test {
 protected:
  static int syncs_of(const std::function<void()>& work) {
    const int before = syncs;
    work();
    return syncs - before;
  }
  // SQLite's clock counts milliseconds, and SQLite does not write a row that would not change.
  static void until_the_next_millisecond() {
    const auto now = [] {
      return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    };
    const auto before = now();
    while (now() == before) std::this_thread::yield();
  }
};

TEST_F(sqlite_durability_test, grants_and_renewals_are_on_disk_and_asynchronous_releases_need_not_be) {
  auto session = ready();
  const auto mine = new_lease(*session);
  const auto hold = store::hold_id::random();
  create(*session, "a");
  raw_sqlite raw{path()};
  for (int round = 0; round < 3; ++round) {
    EXPECT_GE(syncs_of([&] { ASSERT_TRUE(acquire(*session, "a", mine.id, hold)); }), 1);
    EXPECT_EQ(syncs_of([&] { ASSERT_TRUE(release(*session, "a", mine.id, hold)); }), 0);
    until_the_next_millisecond();
    EXPECT_GE(syncs_of([&] {
                session->renew({&mine.id, 1});
              }),
              1)
        << "also right after an asynchronous commit";
    EXPECT_GE(syncs_of([&] { ASSERT_TRUE(acquire(*session, "a", mine.id, hold)); }), 1);
    EXPECT_GE(
        syncs_of([&] { ASSERT_TRUE(release(*session, "a", mine.id, hold, store::durability::durable)); }), 1);
  }
}

TEST_F(sqlite_durability_test, a_batch_costs_one_commit) {
  auto session = ready();
  const auto mine = new_lease(*session);
  std::vector<store::acquire_item> requests;
  for (int i = 0; i < 64; ++i) {
    requests.push_back(
        {.name = "name" + std::to_string(i), .lease = mine.id, .hold = store::hold_id::random()});
    create(*session, requests.back().name);
  }
  std::size_t granted = 0;
  EXPECT_EQ(syncs_of([&] { granted = session->acquire(requests).size(); }), 1);
  EXPECT_EQ(granted, requests.size());
}

TEST_F(sqlite_durability_test, what_changes_nothing_writes_nothing) {
  auto session = ready();
  const auto mine = new_lease(*session);
  create(*session, "a");
  ASSERT_TRUE(acquire(*session, "a", mine.id, store::hold_id::random()));
  const store::edit_request edit{
      .name = "a", .about = {}, .decide = [](const store::lock_view&) { return store::lock_change{}; }};
  EXPECT_EQ(
      syncs_of([&] {
        EXPECT_FALSE(acquire(*session, "a", mine.id, store::hold_id::random()));
        EXPECT_FALSE(release(*session, "a", mine.id, store::hold_id::random(), store::durability::durable));
        EXPECT_TRUE(session->kill({&mine.id, 1}, {}).empty());
        session->edit({&edit, 1});
        create(*session, "a");
        session->record_database_state();
      }),
      0);
}

}  // namespace
}  // namespace rowlock::test
