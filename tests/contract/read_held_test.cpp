// Reading the holds and places on one client's leases, page by page.
#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using store::held_entry;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class read_held_test : public contract_test {
 protected:
  std::vector<held_entry> all_of(lease_id client, std::size_t page_size) {
    std::vector<held_entry> all;
    std::string after;
    for (int pages = 0; pages < 100; ++pages) {
      const auto page = b->read_held(client, after, page_size);
      all.insert(all.end(), page.entries.begin(), page.entries.end());
      if (!page.next) return all;
      EXPECT_GT(*page.next, after);
      after = *page.next;
    }
    ADD_FAILURE() << "it does not end";
    return all;
  }

  static held_entry held_by(const claim& by) { return {by.name, by.hold, by.lease}; }
  static held_entry queued_by(const claim& by) {
    return {by.name, by.hold, by.lease, model::lock_mode::exclusive, true};
  }
};

TEST_P(read_held_test, of_an_empty_database_is_nothing) {
  const auto page = a->read_held(lease_id::random(), "", 10);
  EXPECT_THAT(page.entries, IsEmpty());
  EXPECT_FALSE(page.next);
}

TEST_P(read_held_test, returns_grants_permits_and_places_of_that_client_alone) {
  const auto mine = held("a");
  held("b");
  auto waits = claim_to("b");
  waits.lease = mine.lease;
  ASSERT_EQ(edit("b", enqueue(waits.lease, waits.hold)), edit_result::committed);
  queued("b");
  a->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 10}});
  const auto shares = hold_id::random();
  const store::acquire_item sharing{.name = "s",
                                    .kind = model::lock_kind::semaphore,
                                    .capacity = 10,
                                    .lease = mine.lease,
                                    .hold = shares,
                                    .mode = model::lock_mode::shared,
                                    .weight = 3};
  auto other = sharing;
  other.lease = new_lease();
  other.hold = hold_id::random();
  ASSERT_EQ(a->acquire(std::vector{sharing}).size(), 1U);
  ASSERT_EQ(a->acquire(std::vector{other}).size(), 1U);
  EXPECT_THAT(b->read_held(mine.lease, "", 100).entries,
              UnorderedElementsAre(held_by(mine), queued_by(waits),
                                   held_entry{"s", shares, mine.lease, model::lock_mode::shared}));
}

TEST_P(read_held_test, goes_on_behind_the_last_name_and_reads_each_once) {
  const auto mine = held("a");
  for (const std::string name : {"B", "b", "c", "d'\"\\", "\xC3\xA4"}) {
    auto next = claim_to(name);
    next.lease = mine.lease;
    ASSERT_TRUE(acquire(next));
    create(name + "/free");
  }
  for (const std::size_t page_size : {1, 2, 3, 10, 11, 12, 100}) {
    SCOPED_TRACE(page_size);
    std::vector<std::string> names;
    for (const auto& entry : all_of(mine.lease, page_size)) names.push_back(entry.name);
    EXPECT_THAT(names, UnorderedElementsAre("B", "a", "b", "c", "d'\"\\", "\xC3\xA4"));
  }
  const auto first = b->read_held(mine.lease, "", 2);
  EXPECT_EQ(first.next, "B/free");
  EXPECT_FALSE(b->read_held(mine.lease, "\xC3\xA4/free", 2).next);
}

TEST_P(read_held_test, returns_what_stands_on_the_clients_other_leases) {
  const auto own = new_lease();
  const store::lease_record explicit_ttl{lease_id::random(), own, "host", 42, "contract", 30s};
  a->create_lease(explicit_ttl);
  auto mine = claim_to("a");
  mine.lease = explicit_ttl.id;
  ASSERT_TRUE(acquire(mine));
  EXPECT_THAT(b->read_held(own, "", 10).entries, ElementsAre(held_by(mine)));
  EXPECT_THAT(b->read_held(explicit_ttl.id, "", 10).entries, IsEmpty()) << "that is nobody's own";
}

TEST_P(read_held_test, leaves_out_what_the_dead_had) {
  const auto mine = held("a");
  kill(mine.lease);
  EXPECT_THAT(b->read_held(mine.lease, "", 10).entries, IsEmpty());
}

ROWLOCK_FOR_EACH_STORE(read_held_test);

}  // namespace
}  // namespace rowlock::test
