#include "contract/contract_test.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace rowlock::test {
namespace {

class exclusion_test : public contract_test {
 protected:
  static constexpr int workers = 4;
  static constexpr int rounds = 25;
};

// Workers acquire the lock by any path that is open, change what only the holder may change, and release the lock.
TEST_P(exclusion_test, holds_while_everybody_wants_the_lock) {
  create("a");
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  std::atomic<model::token> last = 0;
  std::atomic<int> backwards = 0;

  const auto work = [&](store::session& session, lease_id lease) {
    for (int round = 0; round < rounds; ++round) {
      const claim wanted{"a", lease};
      auto status = store::hold_status{};
      if (acquire(session, wanted)) {
        status = session.find(std::vector<store::hold_query>{{"a", wanted.hold}}).at(0);
      } else {
        // Queues, or acquires the lock if it is free and nobody waits. Then the worker looks until it holds the lock.
        const decision join = [&](const store::lock_view& now) {
          if (!now.holder && now.queue.empty()) return grant_to(lease, wanted.hold)(now);
          return enqueue(lease, wanted.hold)(now);
        };
        while (session.edit(std::vector<store::edit_request>{{"a", wanted.hold, join}})[0] !=
               edit_result::committed) {
          std::this_thread::yield();
        }
        do {
          status = session.find(std::vector<store::hold_query>{{"a", wanted.hold}}).at(0);
        } while (status.state != where::held);
      }
      overlaps += inside.fetch_add(1);
      backwards += last.exchange(status.token) >= status.token;
      inside.fetch_sub(1);
      while (!release(session, wanted, durability::asynchronous)) {
        const decision give_back = [&](const store::lock_view& now) {
          return now.row.hold == wanted.hold ? hand_over(now) : store::lock_change{};
        };
        if (session.edit(std::vector<store::edit_request>{{"a", wanted.hold, give_back}})[0] ==
            edit_result::committed) {
          break;
        }
      }
    }
  };

  std::vector<std::unique_ptr<store::session>> sessions;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    sessions.push_back(connect());
    threads.emplace_back(work, std::ref(*sessions.back()), new_lease(10min));
  }
  for (auto& one : threads) one.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(backwards, 0);
  EXPECT_FALSE(view("a").row.hold);
}

// Workers share two semaphores by the fast path alone, one by one and both at once. They repeat requests that were
// refused.
TEST_P(exclusion_test, holds_while_everybody_shares) {
  constexpr std::int64_t capacity = 7;
  const std::vector<std::string> names{"a", "b"};
  std::vector<model::lock_definition> locks;
  for (const auto& name : names) locks.push_back({name, model::lock_kind::semaphore, capacity});
  a->create(locks);
  std::atomic<std::int64_t> inside[2] = {0, 0};
  std::atomic<int> overlaps = 0;
  std::atomic<int> granted = 0;

  const auto work = [&](store::session& session, lease_id lease, unsigned seed) {
    std::mt19937 random{seed};
    for (int round = 0; round < rounds; ++round) {
      std::vector<store::acquire_item> requests;
      for (const std::size_t i : {0U, 1U}) {
        if (round % 3 != 2 && (round + seed) % 2 != i) continue;
        requests.push_back({.name = names[i],
                            .kind = model::lock_kind::semaphore,
                            .capacity = capacity,
                            .lease = lease,
                            .hold = hold_id::random(),
                            .mode = model::lock_mode::shared,
                            .weight = 1 + static_cast<std::int64_t>(random() % 4)});
      }
      std::vector<store::release_item> releases;
      for (const auto& grant : session.acquire(requests)) {
        const auto mine =
            std::ranges::find_if(requests, [&](const auto& one) { return one.hold == grant.hold; });
        auto& in_use = inside[mine->name == names[0] ? 0 : 1];
        overlaps += in_use.fetch_add(mine->weight) + mine->weight > capacity;
        releases.push_back({mine->name, lease, grant.hold, model::lock_mode::shared});
        ++granted;
      }
      std::this_thread::yield();
      for (const auto& mine : requests) {
        const auto has = [&](const auto& one) { return one.hold == mine.hold; };
        if (std::ranges::any_of(releases, has)) inside[mine.name == names[0] ? 0 : 1] -= mine.weight;
      }
      while (!releases.empty()) {
        for (const auto& freed : session.release(releases, durability::asynchronous)) {
          std::erase_if(releases, [&](const auto& one) { return one.hold == freed; });
        }
      }
    }
  };

  std::vector<std::unique_ptr<store::session>> sessions;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) {
    sessions.push_back(connect());
    threads.emplace_back(work, std::ref(*sessions.back()), new_lease(10min), i);
  }
  for (auto& one : threads) one.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_GT(granted, workers);
  for (const auto& name : names) {
    EXPECT_EQ(view(name).row.in_use, 0);
    EXPECT_TRUE(view(name).permits.empty());
  }
}

ROWLOCK_FOR_EACH_STORE(exclusion_test);

}  // namespace
}  // namespace rowlock::test
