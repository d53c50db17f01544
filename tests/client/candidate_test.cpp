// A candidate that campaigns without a thread: on every store, and on the memory store step by step.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include "support/background.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The callbacks of a candidate, in order.
class diary {
 public:
  candidate_options options() {
    candidate_options how;
    how.elected = [this](term& office, const std::stop_token& over) {
      {
        const std::lock_guard lock{mutex_};
        over_ = over;
        token_ = office.token();
      }
      write("elected");
    };
    how.lost = [this](loss why) { write(std::string{"lost: "} + to_string(why)); };
    how.failed = [this](const std::exception_ptr& why) {
      try {
        std::rethrow_exception(why);
      } catch (const error& known) {
        write(std::string{"failed: "} + to_string(known.kind()));
      } catch (const std::exception& other) {
        write(std::string{"failed: "} + other.what());
      }
    };
    return how;
  }

  void write(const std::string& line) {
    const std::lock_guard lock{mutex_};
    lines_.push_back(line);
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock{mutex_};
    return lines_;
  }
  std::size_t size() const { return lines().size(); }
  bool is_over() const {
    const std::lock_guard lock{mutex_};
    return over_.stop_requested();
  }
  fencing_token token() const {
    const std::lock_guard lock{mutex_};
    return token_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::stop_token over_;
  fencing_token token_;
};

class candidate_test : public client_test {
 protected:
  client db = new_client(quick_to_renew());
  client other = new_client();
  election here{db, "office"};
  election there{other, "office"};
  diary told;
  loop runs;
};

TEST_P(candidate_test, is_told_of_its_election_and_of_its_loss_and_is_elected_again) {
  candidate mine{runs.get(), here, told.options()};
  ASSERT_TRUE(eventually([&] { return mine.state() == candidate_state::leading; }));
  EXPECT_EQ(there.observe().token, token_of("office"));
  ASSERT_TRUE(admin(other).release("office"));
  ASSERT_TRUE(eventually([&] { return told.size() == 3; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: forced", "elected"));
  EXPECT_EQ(told.token(), token_of("office"));
}

TEST_P(candidate_test, is_elected_in_its_turn_and_resigns_behind_the_others) {
  auto first = std::make_optional(there.campaign());
  candidate mine{runs.get(), here, told.options()};
  ASSERT_TRUE(eventually([&] { return queued("office") == 1; }));
  EXPECT_EQ(mine.state(), candidate_state::waiting);
  EXPECT_FALSE(mine.resign()) << "it does not lead";
  first.reset();
  ASSERT_TRUE(eventually([&] { return mine.state() == candidate_state::leading; }));
  auto next = in_background([&] { return there.campaign(); });
  ASSERT_TRUE(eventually([&] { return queued("office") == 1; }));
  EXPECT_TRUE(mine.resign());
  auto successor = std::make_optional(next.get());
  ASSERT_TRUE(eventually([&] { return queued("office") == 1; })) << "it stands in the queue again";
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: none"));
  successor.reset();
  EXPECT_TRUE(eventually([&] { return told.size() == 3; }));
}

TEST_P(candidate_test, leaves_nothing_when_it_is_closed) {
  {
    const term leads = there.campaign();
    candidate mine{runs.get(), here, told.options()};
    ASSERT_TRUE(eventually([&] { return queued("office") == 1; }));
    mine.close();
    EXPECT_TRUE(eventually([&] { return queued("office") == 0; }));
    EXPECT_EQ(mine.state(), candidate_state::over);
  }
  EXPECT_THAT(told.lines(), IsEmpty());
  {
    const candidate mine{runs.get(), here, told.options()};
    ASSERT_TRUE(eventually([&] { return mine.state() == candidate_state::leading; }));
  }
  EXPECT_FALSE(is_held("office"));
  EXPECT_THAT(told.lines(), ElementsAre("elected"));
}

TEST_P(candidate_test, an_office_of_another_kind_ends_it) {
  mutex(db, "office").acquire().release();
  const candidate mine{runs.get(), here, told.options()};
  ASSERT_TRUE(eventually([&] { return told.size() == 1; }));
  EXPECT_THAT(told.lines(), ElementsAre("failed: mismatch"));
  EXPECT_EQ(mine.state(), candidate_state::over);
}

TEST_P(candidate_test, the_close_of_its_client_ends_it) {
  client mine_alone = new_client();
  const candidate mine{runs.get(), election{mine_alone, "office"}, told.options()};
  ASSERT_TRUE(eventually([&] { return mine.state() == candidate_state::leading; }));
  mine_alone.close();
  ASSERT_TRUE(eventually([&] { return told.size() == 3; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: closed", "failed: closed"));
  EXPECT_EQ(mine.state(), candidate_state::over);
  EXPECT_TRUE(told.is_over());
}

TEST_P(candidate_test, the_close_of_its_client_is_no_failure_if_it_would_not_campaign_again) {
  client mine_alone = new_client();
  auto how = told.options();
  how.requeue = false;
  const candidate mine{runs.get(), election{mine_alone, "office"}, how};
  ASSERT_TRUE(eventually([&] { return mine.state() == candidate_state::leading; }));
  mine_alone.close();
  ASSERT_TRUE(eventually([&] { return mine.state() == candidate_state::over; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: closed"));
}

TEST_P(candidate_test, all_candidates_are_listed_with_the_leader_first) {
  EXPECT_THAT(there.candidates(), IsEmpty());
  auto settings = patient();
  settings.application = "second";
  client another = new_client(settings);
  const term leads = there.campaign();
  const candidate second{runs.get(), election{another, "office"}, told.options()};
  ASSERT_TRUE(eventually([&] { return queued("office") == 1; }));
  const candidate third{runs.get(), here, told.options()};
  ASSERT_TRUE(eventually([&] { return queued("office") == 2; }));
  const auto all = here.candidates();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].leads);
  EXPECT_FALSE(all[1].leads || all[2].leads);
  EXPECT_EQ(all[0].application, "client tests");
  EXPECT_EQ(all[1].application, "second");
  EXPECT_EQ(all[2].application, "client tests");
  EXPECT_EQ(all[0].pid, there.observe().pid);
  EXPECT_EQ(all[0].host, there.observe().host);
  fixture().expire(lease_of("office"));
  const auto first = here.candidates().front();
  EXPECT_TRUE(!first.leads || first.application == "second") << "the leader's lease has expired";
  mutex(db, "m").acquire().release();
  EXPECT_EQ(code_of([&] { std::ignore = election(db, "m").candidates(); }), errc::mismatch);
}

ROWLOCK_FOR_EACH_STORE(candidate_test);

class candidate_clock_test : public virtual_client_test {
 protected:
  // Runs the executor's functions until the condition holds.
  bool run_until(const std::function<bool()>& condition) {
    return soon([&] {
      while (by_hand.size() > 0) by_hand.run_next();
      return condition();
    });
  }
  bool led() {
    return run_until([&] { return told.size() > 0 && told.lines().back() == "elected"; });
  }
  bool is_free() {
    return soon([&] { return holder_of("office").empty() && queued("office") == 0; });
  }

  client db = new_client();
  client other = new_client();
  election here{db, "office"};
  election there{other, "office"};
  diary told;
  hand_executor by_hand;
};

TEST_F(candidate_clock_test, a_lease_that_ends_stops_the_token_before_the_notice) {
  const candidate mine{by_hand.get(), here, told.options()};
  ASSERT_TRUE(led());
  faults.cut(true);
  advance(40s);
  ASSERT_TRUE(eventually([&] { return told.is_over(); })) << "although the executor runs nothing";
  EXPECT_THAT(told.lines(), ElementsAre("elected"));
  EXPECT_EQ(mine.state(), candidate_state::waiting);
  faults.cut(false);
  ASSERT_TRUE(run_until([&] { return told.size() == 3; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: expired", "elected"));
}

TEST_F(candidate_clock_test, an_office_that_is_lost_before_its_turn_is_not_told) {
  for (const bool requeue : {true, false}) {
    diary lines;
    auto how = lines.options();
    how.requeue = requeue;
    const auto lost = db.stats().lost;
    const candidate mine{by_hand.get(), here, how};
    ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
    const auto first = holder_of("office");
    ASSERT_TRUE(admin(other).release("office"));
    ASSERT_TRUE(soon([&] { return db.stats().lost == lost + 1; }));
    ASSERT_TRUE(run_until([&] { return lines.size() > 0; }));
    EXPECT_THAT(lines.lines(), ElementsAre("elected"));
    EXPECT_NE(holder_of("office"), first) << "it campaigns again, whatever requeue says";
  }
}

TEST_F(candidate_clock_test, a_loss_while_elected_runs_is_told_after_it) {
  auto how = told.options();
  how.requeue = false;
  how.elected = [&](term& office, const std::stop_token& over) {
    told.write("begins");
    EXPECT_TRUE(admin(other).release("office"));
    EXPECT_TRUE(soon([&] { return over.stop_requested(); }));
    EXPECT_FALSE(office.valid());
    told.write("ends");
  };
  const candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(run_until([&] { return mine.state() == candidate_state::over; }));
  EXPECT_THAT(told.lines(), ElementsAre("begins", "ends", "lost: forced"));
  EXPECT_TRUE(is_free()) << "it was told not to campaign again";
}

TEST_F(candidate_clock_test, the_end_of_elected_is_the_end_of_the_term_if_it_is_to_be) {
  auto how = told.options();
  how.until_return = true;
  how.requeue = false;
  const candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(run_until([&] { return mine.state() == candidate_state::over; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: none"));
  EXPECT_TRUE(is_free());
}

TEST_F(candidate_clock_test, still_has_the_office_while_it_is_told_that_it_resigned) {
  auto how = told.options();
  std::string holder;
  how.lost = [&](loss) { holder = holder_of("office"); };
  how.requeue = false;
  candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(led());
  EXPECT_TRUE(mine.resign());
  EXPECT_TRUE(told.is_over());
  EXPECT_FALSE(mine.resign()) << "it has resigned already";
  EXPECT_NE(holder_of("office"), "") << "the executor has not run lost() yet";
  ASSERT_TRUE(run_until([&] { return mine.state() == candidate_state::over; }));
  EXPECT_NE(holder, "");
  EXPECT_TRUE(is_free());
}

TEST_F(candidate_clock_test, what_elected_throws_ends_it) {
  auto how = told.options();
  how.elected = [](term&, const std::stop_token&) { throw std::runtime_error("no"); };
  const candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(run_until([&] { return told.size() == 2; }));
  EXPECT_THAT(told.lines(), ElementsAre("lost: none", "failed: no"));
  EXPECT_EQ(mine.state(), candidate_state::over);
  EXPECT_TRUE(is_free());
}

TEST_F(candidate_clock_test, what_lost_throws_ends_it_and_releases_the_office) {
  auto how = told.options();
  how.lost = [](loss) { throw std::runtime_error("no"); };
  candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(led());
  ASSERT_TRUE(mine.resign());
  ASSERT_TRUE(run_until([&] { return told.size() == 2; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "failed: no"));
  EXPECT_TRUE(is_free());
}

TEST_F(candidate_clock_test, a_close_that_tells_does_so_on_its_thread_and_then_releases) {
  auto how = told.options();
  std::string holder;
  how.lost = [&](loss why) {
    EXPECT_EQ(why, loss::none);
    holder = holder_of("office");
  };
  candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(led());
  auto closed = in_background([&] { mine.close(close_mode::tell); });
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_NE(holder, "");
  EXPECT_TRUE(holder_of("office").empty());
  EXPECT_TRUE(told.is_over());
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(candidate_clock_test, a_close_waits_for_elected_and_stops_its_token) {
  auto how = told.options();
  std::atomic<bool> entered{false};
  std::atomic<bool> may_end{false};
  how.elected = [&](term&, const std::stop_token& over) {
    entered = true;
    EXPECT_TRUE(eventually([&] { return may_end.load() && over.stop_requested(); }));
    told.write("ends");
  };
  candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  auto runs = in_background([&] { by_hand.run_next(); });
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  auto closed = in_background([&] { mine.close(close_mode::tell); });
  EXPECT_EQ(closed.wait_for(20ms), std::future_status::timeout);
  may_end = true;
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  runs.get();
  EXPECT_THAT(told.lines(), ElementsAre("ends", "lost: none"));
  EXPECT_TRUE(is_free());
}

TEST_F(candidate_clock_test, may_be_closed_by_its_own_functions) {
  for (const bool in_elected : {true, false}) {
    diary lines;
    std::optional<candidate> mine;
    auto how = lines.options();
    if (in_elected) {
      how.elected = [&](term& office, const std::stop_token& over) {
        mine->close(close_mode::tell);
        EXPECT_TRUE(over.stop_requested());
        EXPECT_FALSE(office.valid());
      };
    } else {
      how.until_return = true;
      how.lost = [&](loss) {
        lines.write("lost");
        mine->close(close_mode::tell);
      };
    }
    mine.emplace(by_hand.get(), here, how);
    ASSERT_TRUE(run_until([&] { return mine->state() == candidate_state::over; }));
    const auto expected =
        in_elected ? std::vector<std::string>{"lost: none"} : std::vector<std::string>{"elected", "lost"};
    EXPECT_EQ(lines.lines(), expected);
    EXPECT_TRUE(is_free());
  }
}

TEST_F(candidate_clock_test, a_grant_that_the_executor_has_not_run_yet_is_given_back_by_a_close) {
  candidate mine{by_hand.get(), here, told.options()};
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_NE(holder_of("office"), "");
  mine.close(close_mode::tell);
  EXPECT_TRUE(is_free());
  by_hand.run_next();
  EXPECT_THAT(told.lines(), IsEmpty());
}

TEST_F(candidate_clock_test, is_over_when_the_executor_drops_its_function) {
  for (const bool leads : {false, true}) {
    diary lines;
    candidate mine{by_hand.get(), here, lines.options()};
    if (leads) {
      ASSERT_TRUE(run_until([&] { return lines.size() == 1; }));
      ASSERT_TRUE(mine.resign());
    }
    ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
    by_hand.drop_next();
    EXPECT_EQ(mine.state(), candidate_state::over);
    EXPECT_TRUE(is_free());
    EXPECT_EQ(lines.size(), leads ? 1U : 0U);
  }
}

// Its minimum hold time is that of a term, and nobody was told of one.
TEST_F(candidate_clock_test, an_office_that_it_never_led_does_not_rest) {
  for (const bool is_closed : {false, true}) {
    auto how = told.options();
    how.acquire.min_hold = 24h;
    candidate mine{by_hand.get(), here, how};
    ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
    if (is_closed) mine.close();
    by_hand.drop_next();
    EXPECT_TRUE(eventually([&] { return static_cast<bool>(there.try_campaign()); }));
  }
  EXPECT_THAT(told.lines(), IsEmpty());
}

TEST_F(candidate_clock_test, a_stop_ends_the_wait) {
  const term leads = there.campaign();
  auto how = told.options();
  std::stop_source stop;
  how.acquire.stop = stop.get_token();
  const candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(eventually([&] { return queued("office") == 1; }));
  stop.request_stop();
  ASSERT_TRUE(run_until([&] { return told.size() == 1; }));
  EXPECT_THAT(told.lines(), ElementsAre("failed: cancelled"));
}

TEST_F(candidate_clock_test, a_ttl_limits_each_term) {
  auto how = told.options();
  how.acquire.ttl = 5s;
  const candidate mine{by_hand.get(), here, how};
  ASSERT_TRUE(led());
  advance(6s);
  ASSERT_TRUE(run_until([&] { return told.size() == 3; }));
  EXPECT_THAT(told.lines(), ElementsAre("elected", "lost: expired", "elected"));
}

TEST_F(candidate_clock_test, refuses_what_cannot_be_right) {
  const auto refused = [&](executor where, const candidate_options& how) {
    return code_of([&] { const candidate mine(std::move(where), here, how); });
  };
  EXPECT_EQ(refused({}, told.options()), errc::invalid_argument);
  EXPECT_EQ(refused(by_hand.get(), {}), errc::invalid_argument);
  auto how = told.options();
  how.acquire.detect_deadlock = true;
  EXPECT_EQ(refused(by_hand.get(), how), errc::invalid_argument);
  db.close();
  EXPECT_EQ(refused(by_hand.get(), told.options()), errc::closed);
}

}  // namespace
}  // namespace rowlock::test
