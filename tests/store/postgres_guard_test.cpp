// FOR KEY SHARE in the application's transaction against the row locks that the store takes.
#include "contract/decisions.hpp"
#include "store/postgres_test.hpp"

#include <future>

namespace rowlock::test {
namespace {

class postgres_guard_test : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    application_ = raw();
    hold_ = held(*session_, "a");
  }
  raw_postgres::rows guard() {
    return application_->run(store::open_postgres(url_, options_)->guard_sql(model::lock_mode::exclusive),
                             {hold_.name, hold_.hold.to_string()});
  }
  // The guard with its values inserted, for a statement that is sent and left waiting.
  std::string guard_text() {
    return "SELECT 1 FROM rowlock_lock WHERE name = 'a' AND hold_id = '" + hold_.hold.to_string() +
           "' FOR KEY SHARE";
  }

  void restore_hold() {
    side_->run("UPDATE rowlock_lock SET hold_id = '" + hold_.hold.to_string() + "' WHERE name = 'a'");
  }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<raw_postgres> application_;
  claim hold_;
};

TEST_F(postgres_guard_test, stops_what_would_take_the_hold_away_until_it_ends) {
  for (const std::string level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    application_->run("BEGIN ISOLATION LEVEL " + level);
    ASSERT_EQ(guard().size(), 1U) << level;
    EXPECT_FALSE(release(*session_, hold_)) << level;
    EXPECT_FALSE(look(*session_, "a").value().replaceable) << level;
    EXPECT_THROW(edit(*session_, "a", grant_to(new_lease(*session_), hold_id::random())), error) << level;
    application_->run("COMMIT");
    EXPECT_TRUE(look(*session_, "a").value().replaceable) << level;
  }
  EXPECT_TRUE(release(*session_, hold_));
}

TEST_F(postgres_guard_test, lets_a_waiter_enter_the_queue) {
  application_->run("BEGIN");
  ASSERT_EQ(guard().size(), 1U);
  const auto waiter = hold_id::random();
  EXPECT_EQ(edit(*session_, "a", enqueue(new_lease(*session_), waiter)), store::edit_result::committed);
  ASSERT_EQ(session_->queue("a").size(), 1U);
  // The row has a new version, which the guard has locked as well.
  EXPECT_FALSE(look(*session_, "a").value().replaceable);
  application_->run("COMMIT");
}

// Of all row locks that a reader can take, only the weakest permits an enqueue.
TEST_F(postgres_guard_test, in_share_mode_would_keep_waiters_out) {
  application_->run("BEGIN; SELECT FROM rowlock_lock WHERE name = 'a' FOR SHARE");
  EXPECT_EQ(edit(*session_, "a", enqueue(new_lease(*session_), hold_id::random())),
            store::edit_result::skipped);
}

TEST_F(postgres_guard_test, waits_for_a_release_under_way_and_then_proves_nothing) {
  auto releaser = raw();
  releaser->run("PREPARE release_one AS " + postgres_query("release_one"));
  releaser->run("BEGIN");
  ASSERT_EQ(releaser
                ->run("EXECUTE release_one ('a', '" + hold_.lease.to_string() + "', '" +
                      hold_.hold.to_string() + "', 'on')")
                .size(),
            1U);
  application_->run("BEGIN");
  application_->run_until_blocked(guard_text(), *side_);
  releaser->run("COMMIT");
  EXPECT_TRUE(application_->finish().empty());
}

TEST_F(postgres_guard_test, in_an_old_snapshot_is_refused_once_the_hold_is_gone) {
  for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    const auto again = level == "SERIALIZABLE" ? held(*session_, "b") : hold_;
    hold_ = again;
    application_->run("BEGIN ISOLATION LEVEL " + level);
    application_->run("SELECT count(*) FROM rowlock_meta");
    ASSERT_TRUE(release(*session_, hold_));
    EXPECT_EQ(application_->refusal("SELECT 1 FROM rowlock_lock WHERE name = '" + hold_.name +
                                    "' AND hold_id = '" + hold_.hold.to_string() + "' FOR KEY SHARE"),
              "40001")
        << level;
    application_->run("ROLLBACK");
  }
}

TEST_F(postgres_guard_test, of_a_new_hold_after_the_snapshot_proves_nothing_rather_than_too_much) {
  const claim later{"b", new_lease(*session_), hold_id::random()};
  create(*session_, "b");
  application_->run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  application_->run("SELECT count(*) FROM rowlock_meta");
  ASSERT_TRUE(acquire(*session_, later));
  hold_ = later;
  EXPECT_TRUE(guard().empty()) << "what this transaction reads may be older than the hold";
  application_->run("ROLLBACK");
}

// An edit that may replace a hold, beside a guard of the hold that ends while the edit locks the row, and another one
// whose transaction has an older snapshot.
class postgres_replacement_test : public postgres_guard_test {
 protected:
  enum class ends {
    before,
    between,
    after
  };  // when the first guard ends: before, between or after the two locks

  // Returns what the other guard answers: its row, or the SQLSTATE of its refusal.
  std::string old_guard(const std::string& level, ends when, const std::vector<std::string>& locks) {
    application_->run("BEGIN ISOLATION LEVEL " + level);
    application_->run("SELECT count(*) FROM rowlock_meta");
    enter_the_queue();
    const auto first = raw();
    first->run("BEGIN; " + guard_text());
    const auto end_at = [&](ends now) {
      if (when == now) first->run("COMMIT");
    };
    const auto editor = raw();
    for (const auto& one : locks) editor->run("PREPARE " + one + " AS " + postgres_query(one));
    end_at(ends::before);
    editor->run("BEGIN; EXECUTE " + locks[0] + " ('{a}')");
    end_at(ends::between);
    editor->run("EXECUTE " + locks[1] + " ('{a}')");
    end_at(ends::after);
    is_replaced_ = editor->value("SELECT current_setting('rowlock.replaceable')") == "{a}";
    if (is_replaced_) {
      editor->run("UPDATE rowlock_lock SET hold_id = '" + hold_id::random().to_string() +
                  "', token = token + 1 WHERE name = 'a'");
    }
    editor->run("COMMIT");
    auto answer = application_->refusal(guard_text());
    application_->run("ROLLBACK");
    return answer.empty() ? "passed" : answer;
  }

  // By the statement that locks the row no more than a guard permits.
  void enter_the_queue() {
    const store::acquire_item waiter{.name = "a", .lease = new_lease(*session_), .hold = hold_id::random()};
    ASSERT_TRUE(session_->enqueue(waiter, 0us));
  }

  bool is_replaced_ = false;
};

TEST_F(postgres_replacement_test, lets_no_guard_of_an_older_snapshot_pass) {
  for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const auto when : {ends::after, ends::between, ends::before}) {
      const auto answer = old_guard(level, when, {"edit_guard", "edit_take"});
      EXPECT_EQ(is_replaced_, when == ends::before) << level;
      EXPECT_EQ(answer, is_replaced_ ? "40001" : "passed") << level;
    }
    restore_hold();
  }
}

// Why the stronger lock comes first.
TEST_F(postgres_replacement_test, would_let_one_pass_if_it_had_taken_the_weaker_lock_first) {
  const auto weaker_first = [&](const std::string& weaker) {
    application_->run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    application_->run("SELECT count(*) FROM rowlock_meta");
    enter_the_queue();
    const auto first = raw();
    first->run("BEGIN; " + guard_text());
    side_->run("BEGIN; SELECT FROM rowlock_lock WHERE name = 'a' " + weaker);
    first->run("COMMIT");
    side_->run("SELECT FROM rowlock_lock WHERE name = 'a' FOR UPDATE; UPDATE rowlock_lock SET hold_id = '" +
               hold_id::random().to_string() + "' WHERE name = 'a'; COMMIT");
    const auto answer = application_->refusal(guard_text());
    application_->run("ROLLBACK");
    restore_hold();
    return answer;
  };
  EXPECT_EQ(weaker_first("FOR NO KEY UPDATE"), "") << "the guard passes";
  EXPECT_EQ(weaker_first("FOR UPDATE SKIP LOCKED"), "40001");
}

// The guard of a permit, beside statements that remove the permit.
class postgres_shared_guard_test : public postgres_guard_test {
 protected:
  void SetUp() override {
    postgres_guard_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
    permit_ = {hold_id::random(), new_lease(*session_), 2, 0};
    edit(*session_, "s", [&](const store::lock_view& now) {
      store::lock_change change;
      change.row = now.row;
      change.row->in_use = permit_.weight;
      permit_.token = ++change.row->token;
      change.add_permits.push_back(permit_);
      return change;
    });
  }
  std::string with_values(std::string statement) {
    statement.replace(statement.find("$1"), 2, "'s'");
    return statement.replace(statement.find("$2"), 2, "'" + permit_.hold.to_string() + "'");
  }
  std::string shared_guard() {
    return with_values(store::open_postgres(url_, options_)->guard_sql(model::lock_mode::shared));
  }
  // Whether the guard still finds the permit after it has waited for an edit that removed the permit.
  bool proves_what_is_gone(const std::string& guard) {
    auto editor = raw();
    editor->run("BEGIN; SELECT FROM rowlock_lock WHERE name = 's' FOR UPDATE");
    application_->run("BEGIN");
    application_->run_until_blocked(guard, *side_);
    editor->run("DELETE FROM rowlock_permit; UPDATE rowlock_lock SET in_use = 0 WHERE name = 's'; COMMIT");
    const bool proved = !application_->finish().empty();
    application_->run("ROLLBACK");
    return proved;
  }

  model::permit permit_;
};

TEST_F(postgres_shared_guard_test, stops_what_would_take_the_permit_away_until_it_ends) {
  const auto take = [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 0;
    change.remove_permits.push_back(permit_.hold);
    return change;
  };
  for (const std::string level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    application_->run("BEGIN ISOLATION LEVEL " + level);
    ASSERT_EQ(application_->run(shared_guard()).size(), 1U) << level;
    EXPECT_FALSE(look(*session_, "s").value().replaceable) << level;
    EXPECT_THROW(edit(*session_, "s", take), error) << level;
    application_->run("COMMIT");
  }
  EXPECT_EQ(edit(*session_, "s", take), store::edit_result::committed);
}

TEST_F(postgres_shared_guard_test, that_waited_for_the_row_does_not_prove_what_is_gone) {
  EXPECT_FALSE(proves_what_is_gone(shared_guard()));
}

TEST_F(postgres_shared_guard_test, that_waited_for_a_part_to_be_given_back_proves_the_rest) {
  edit(*session_, "s", [&](const store::lock_view& now) {
    application_->run("BEGIN");
    application_->run_until_blocked(shared_guard(), *side_);
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 1;
    change.remove_permits.push_back(permit_.hold);
    change.add_permits.push_back({permit_.hold, permit_.lease, 1, permit_.token});
    return change;
  });
  EXPECT_EQ(application_->finish().size(), 1U) << "a hold that has not ended is not lost";
  application_->run("ROLLBACK");
}

// This is why the guard locks the permit, too.
TEST_F(postgres_shared_guard_test, that_only_reads_the_permit_would_prove_it) {
  EXPECT_TRUE(proves_what_is_gone(with_values(
      "SELECT 1 FROM rowlock_lock AS l WHERE name = $1 AND EXISTS (SELECT FROM rowlock_permit AS p "
      "WHERE p.name = l.name AND p.hold_id = $2::uuid) FOR KEY SHARE")));
}

}  // namespace
}  // namespace rowlock::test
