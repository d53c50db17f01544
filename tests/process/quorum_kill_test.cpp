#include "kill_test.hpp"

namespace rowlock::test {

namespace {

// Three databases: two of the store's own, and a file.
class quorum_kill_test : public kill_test {
 protected:
  struct member {
    std::unique_ptr<store_fixture> store;
    std::unique_ptr<sql_session> session;

    std::string prefix() const { return store->options().prefix; }
    test::witness witness() const { return {*session, prefix()}; }
    std::vector<witness_line> lines() const { return witness().lines(); }
    bool is_empty() const {
      return session->number("SELECT count(*) FROM " + prefix() +
                             "lock WHERE in_use <> 0 OR hold_id IS NOT NULL") == 0;
    }
  };

  void SetUp() override {
    kill_test::SetUp();
    witness().create();
    for (const auto& store : {GetParam(), std::string{"sqlite"}}) {
      auto fixture = make_store_fixture(store);
      auto session = sql_session::open(fixture->observer_url());
      others_.push_back({std::move(fixture), std::move(session)});
      others_.back().witness().create();
    }
  }

  std::string load(int rounds) const {
    auto line = "load quorum 1 " + std::to_string(rounds) + " global and";
    for (const auto& one : others_) line += ' ' + one.store->url() + ' ' + one.prefix();
    return line;
  }
  // A lease on a member ends when that member deletes it, on another member perhaps later.
  visits_report report_on_all() {
    return report_on(only(witness().lines(), "global/all"), 1, without_leaving::not_counted);
  }
  // The pids of processes that have not left, including dead ones.
  std::set<std::int64_t> inside() { return report_on(only(witness().lines(), "global/all"), 1).inside; }
  // How many processes were killed inside. A process that was chosen inside may have left when the signal comes.
  std::size_t dead_inside(crew& all) {
    const auto pids = inside();
    return pids.size() - all.count_of(pids);
  }
  static std::vector<witness_line> only(std::vector<witness_line> lines, const std::string& name) {
    std::erase_if(lines, [&](const witness_line& line) { return line.name != name; });
    return lines;
  }
  static std::vector<witness_line> except(std::vector<witness_line> lines, const std::string& name) {
    std::erase_if(lines, [&](const witness_line& line) { return line.name == name; });
    return lines;
  }

  std::vector<member> others_;
};

// A kill may come when a client's statement has reached only some of the members.
TEST_P(quorum_kill_test, has_one_holder_and_rising_tokens_on_all_members_together) {
  constexpr int turns = 2;
  auto patient = mortal();
  patient.ttl = 1'500ms;  // ten times the time that a member may take
  {
    crew all{patient, load(0), 4};
    for (int turn = 0; turn < turns; ++turn) {
      const auto before = said("came");
      until_some_moment(100ms);
      all.kill_one(random());
      const auto dead_before = dead_inside(all);
      until("one inside is killed", [&] {
        all.kill_one_of([&] { return inside(); }, random());
        return dead_inside(all) > dead_before;
      });
      until("others come after the killed ones", [&] { return said("came") >= before + 20; });
    }
    halt(all);
  }
  const auto found = report_on_all();
  EXPECT_EQ(found.overfull, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.most_together, 1);
  auto lines = except(witness().lines(), "global/all");
  std::int64_t killed_inside = 0;
  for (std::size_t i = 0;; ++i) {
    const auto one = report_on(lines, 1);
    EXPECT_EQ(one.overfull, 0) << "member " << i;
    EXPECT_EQ(one.token_faults, 0) << "member " << i;
    killed_inside += one.killed_inside;
    if (i == others_.size()) break;
    lines = others_[i].lines();
  }
  EXPECT_GT(killed_inside, 0);

  worker survivor{patient};
  until("it is free on all members", [&] {
    survivor.ask(load(4));  // with each of its views of the lock
    survivor.counts("join", 30s);
    return number("SELECT count(*) FROM @lock WHERE in_use <> 0 OR hold_id IS NOT NULL") == 0 &&
           others_[0].is_empty() && others_[1].is_empty();
  });
}

ROWLOCK_FOR_EACH_SQL_STORE(quorum_kill_test);

}  // namespace

}  // namespace rowlock::test
