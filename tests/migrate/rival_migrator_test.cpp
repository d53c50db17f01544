#ifdef ROWLOCK_TEST_MYSQL

// A migrator on another node of a cluster, which no lock keeps from running at the same time as this one.
#include "migrate/migrate_test.hpp"
#include "migrate/runner.hpp"
#include "store/open.hpp"

namespace rowlock::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// A session that calls a function of the test before it applies a file, and when it reads the version after that.
class disturbed_session final : public store::migration_session {
 public:
  explicit disturbed_session(std::unique_ptr<store::migration_session> inner) : inner_{std::move(inner)} {}

  std::function<void(int file_version, int time)> before_apply = [](int, int) {};
  std::function<void()> before_state = [] {};
  int applied = 0;  // how often a file was applied

  store::schema_state state() override {
    before_state();
    return inner_->state();
  }
  bool has_ledger() override { return inner_->has_ledger(); }
  std::vector<store::ledger_entry> ledger() override { return inner_->ledger(); }
  std::int64_t leases() override { return inner_->leases(); }
  void exclusively(const std::function<void()>& work) override { inner_->exclusively(work); }
  bool commits_by_statement() const override { return inner_->commits_by_statement(); }
  bool may_be_a_rivals_doing(const error& failure) const override {
    return inner_->may_be_a_rivals_doing(failure);
  }
  void apply(const std::string& sql, const store::ledger_entry& entry) override {
    before_apply(entry.version, ++applied);
    inner_->apply(sql, entry);
  }
  void revert(const std::string& sql, int version) override { inner_->revert(sql, version); }
  void record(const store::ledger_entry& entry) override { inner_->record(entry); }
  std::vector<std::string> describe() override { return inner_->describe(); }

 private:
  std::unique_ptr<store::migration_session> inner_;
};

}  // namespace

class rival_migrator_test : public migrate_test {
 protected:
  disturbed_session session{store::open_for_migration(db.url(), {})};

  // The shipped files, and one whose statements fail if they are run twice.
  std::vector<migration> files = [] {
    auto result = shipped_migrations(dialect_of(GetParam()));
    result.resize(1);
    result.push_back({.version = 2,
                      .title = "more",
                      .checksum = "sum",
                      .up = adds_a_column + writes_the_version,
                      .down = "SELECT 1;"});
    return result;
  }();
  static inline const std::string adds_a_column = "ALTER TABLE rowlock_meta ADD COLUMN more INT; ";
  static inline const std::string writes_the_version = "UPDATE rowlock_meta SET schema_version = 2;";

  migrate::runner runner() { return {session, files, {}, "rowlock_"}; }
  std::string version() { return db.run("SELECT schema_version FROM rowlock_meta"); }
};

TEST_P(rival_migrator_test, is_waited_for_if_it_has_done_a_part_of_the_file) {
  bool is_halfway = false;
  int reads = 0;
  session.before_apply = [&](int file, int) {
    if (file == 2 && !std::exchange(is_halfway, true)) db.run(adds_a_column);
  };
  // The rival completes the file just after this migrator has found that it is not complete.
  session.before_state = [&] {
    if (is_halfway && ++reads == 2) db.run(writes_the_version);
  };
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(1, 2));
  EXPECT_THAT(version(), HasSubstr("2"));
  EXPECT_TRUE(runner().status().at(1).recorded);
}

TEST_P(rival_migrator_test, may_undo_what_this_one_writes) {
  session.before_apply = [](int file, int time) {
    if (file == 2 && time < 4) throw error(errc::contention, "undone", "1213");
  };
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(1, 2));
  EXPECT_THAT(version(), HasSubstr("2"));
  EXPECT_EQ(session.applied, 4);
}

TEST_P(rival_migrator_test, that_is_behind_may_write_a_lower_version_again) {
  files[1].up = writes_the_version;
  int reads = 0;
  session.before_state = [&] {
    if (session.applied == 2 && ++reads == 1) db.run("UPDATE rowlock_meta SET schema_version = 1");
  };
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(1, 2));
  EXPECT_THAT(version(), HasSubstr("2"));
}

TEST_P(rival_migrator_test, does_not_hide_a_file_that_is_wrong) {
  files[1].up = "SELECT wrong syntax here;";
  EXPECT_THROW(runner().up({}, false), error);
  EXPECT_EQ(session.applied, 2);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(rival_migrator_test);

}  // namespace rowlock::test

#endif
