#include "store/history_verbs.hpp"

#include "contract/contract_test.hpp"
#include "store/open.hpp"
#include "support/roles.hpp"

namespace rowlock::test {
namespace {

using store::history_event;
using testing::ElementsAre;
using testing::IsEmpty;

class history_test : public contract_test {
 protected:
  static constexpr auto last = std::numeric_limits<std::int64_t>::max();

  // An edit that grants the lock to nobody new and writes these lines.
  edit_result write(const std::string& name, std::vector<store::history_entry> lines) {
    return edit(name, [&](const store::lock_view& view) {
      store::lock_change change;
      change.row = view.row;
      change.history = std::move(lines);
      return change;
    });
  }
  // A session of a role that may change what is recorded; the role of clients may not.
  std::unique_ptr<store::session> operating() {
    if (!asked_for_roles() || GetParam() == "memory") return connect();
    return store::open(as_role(fixture().url(), role_use::operate), fixture().options())->connect();
  }
  std::vector<std::int64_t> ids(const std::string& name) {
    std::vector<std::int64_t> result;
    for (const auto& line : b->history().read_history(name, last, 1000)) result.push_back(line.id);
    return result;
  }
};

TEST_P(history_test, what_is_recorded_is_stored) {
  const auto session = operating();
  auto& history = session->history();
  EXPECT_THAT(history.recordings(), IsEmpty());
  const auto version = a->read_database_state().recordings;
  history.record({"billing/*", 100, 48h});
  history.record({"a", 5, 1h});
  EXPECT_GT(a->read_database_state().recordings, version);
  const auto both = b->history().recordings();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].pattern, "a");
  EXPECT_EQ(both[1].pattern, "billing/*");
  EXPECT_EQ(both[1].keep, 100);
  EXPECT_EQ(both[1].age, 48h);
  history.record({"a", 6, 2h});
  EXPECT_EQ(b->history().recordings().at(0).keep, 6);
  const auto changed = b->read_database_state().recordings;
  EXPECT_TRUE(history.stop_recording("a"));
  EXPECT_FALSE(history.stop_recording("a"));
  EXPECT_EQ(b->history().recordings().size(), 1U);
  EXPECT_GT(b->read_database_state().recordings, changed);
  EXPECT_NO_THROW(history.check_history());
  EXPECT_THAT(ids("a"), IsEmpty());
}

TEST_P(history_test, each_renewal_tells_which_version_is_recorded) {
  const auto lease = new_lease();
  const auto version = [&] { return a->renew(std::vector{lease}).database_state.recordings; };
  const auto before = version();
  operating()->history().record({"a", 5, 1h});
  EXPECT_NE(version(), before);
}

TEST_P(history_test, lines_are_written_with_the_change_and_say_whose_the_lease_is) {
  store::lease_record lease;
  lease.id = lease.client = lease_id::random();
  lease.host = "h\xC3\xB6st";
  lease.pid = 42;
  lease.application = "it's \"billing\"";
  lease.ttl = 30s;
  lease.user = "deploy";
  lease.program = "bill-everyone";
  a->create_lease(lease);
  create("a");
  create("b");
  const auto hold = hold_id::random();
  ASSERT_EQ(write("a", {{history_event::granted, 7, hold, lease.id, ""},
                        {history_event::requested,
                         7,
                         {},
                         {},
                         "by \"root\"@host: gr\xC3\xB6\xC3\x9F"
                         "er\\"}}),
            edit_result::committed);
  ASSERT_EQ(write("a", {{history_event::lost, 7, hold, lease_id::random(), ""}}), edit_result::committed);
  const auto lines = b->history().read_history("a", last, 10);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].entry.event, history_event::lost) << "the latest one first";
  EXPECT_EQ(lines[0].host, "") << "the lease is gone";
  EXPECT_EQ(lines[1].entry.event, history_event::requested);
  EXPECT_EQ(lines[1].entry.detail,
            "by \"root\"@host: gr\xC3\xB6\xC3\x9F"
            "er\\");
  EXPECT_TRUE(lines[1].entry.hold.is_nil());
  const auto& granted = lines[2];
  EXPECT_EQ(granted.entry.event, history_event::granted);
  EXPECT_EQ(granted.entry.token, 7);
  EXPECT_EQ(granted.entry.hold, hold);
  EXPECT_EQ(granted.entry.lease, lease.id);
  EXPECT_EQ(granted.host, lease.host);
  EXPECT_EQ(granted.pid, 42);
  EXPECT_EQ(granted.user, "deploy");
  EXPECT_EQ(granted.application, lease.application);
  EXPECT_EQ(granted.program, "bill-everyone");
  EXPECT_GE(granted.ago, 0ms);
  EXPECT_LT(granted.ago, 1min);
  EXPECT_GT(lines[0].id, lines[1].id);
  EXPECT_GT(lines[1].id, lines[2].id);
  EXPECT_THAT(ids("b"), IsEmpty());
}

TEST_P(history_test, is_read_page_by_page) {
  create("a");
  for (int i = 0; i < 5; ++i)
    write("a", {{history_event::granted, i, hold_id::random(), lease_id::random()}});
  EXPECT_THAT(ids("a"), ElementsAre(5, 4, 3, 2, 1));
  const auto page = b->history().read_history("a", 4, 2);
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0].id, 3);
  EXPECT_EQ(page[1].id, 2);
}

TEST_P(history_test, an_edit_of_several_names_writes_the_lines_of_each) {
  create("a");
  create("b");
  const store::edit_request both[] = {{"a", {}, {}}, {"b", {}, {}}};
  a->edit_together(both, [](auto, auto views) {
    std::vector<store::lock_change> changes(2);
    for (std::size_t i = 0; i < 2; ++i) {
      changes[i].row = views[i].row;
      changes[i].history.resize(i + 1, {history_event::queued, 0, hold_id::random(), lease_id::random()});
    }
    return changes;
  });
  EXPECT_THAT(ids("a"), ElementsAre(1));
  EXPECT_THAT(ids("b"), ElementsAre(2, 1));
  EXPECT_THAT(a->history().names_with_history("", 10), ElementsAre("a", "b"));
  EXPECT_THAT(a->history().names_with_history("", 1), ElementsAre("a"));
  EXPECT_THAT(a->history().names_with_history("a", 10), ElementsAre("b"));
}

TEST_P(history_test, is_pruned_by_number_a_bounded_number_at_a_time) {
  create("a");
  create("b");
  for (int i = 0; i < 6; ++i) {
    for (const auto* name : {"a", "b"})
      write(name, {{history_event::granted, i, hold_id::random(), lease_id::random()}});
  }
  auto& history = a->history();
  EXPECT_EQ(history.prune_history("a", 6, 1h, 10), 0);
  EXPECT_EQ(history.prune_history("a", 3, 1h, 2), 2);
  EXPECT_THAT(ids("a"), ElementsAre(6, 5, 4, 3));
  EXPECT_EQ(history.prune_history("a", 3, 1h, 2), 1);
  EXPECT_EQ(history.prune_history("a", 3, 1h, 2), 0);
  EXPECT_THAT(ids("a"), ElementsAre(6, 5, 4));
  EXPECT_EQ(ids("b").size(), 6U);
  write("a", {{history_event::granted, 9, hold_id::random(), lease_id::random()}});
  EXPECT_THAT(ids("a"), ElementsAre(7, 6, 5, 4));
  EXPECT_EQ(history.prune_history("a", 0, 1h, 10), 4);
  EXPECT_EQ(history.prune_history("none", 0, 1h, 10), 0);
  EXPECT_THAT(history.names_with_history("", 10), ElementsAre("b"));
}

ROWLOCK_FOR_EACH_STORE(history_test);

}  // namespace
}  // namespace rowlock::test
