#include "client/worker/task_executor.hpp"

#include "client/parts_test.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

using client_layer::decision;
using client_layer::outcome;

class task_executor_test : public parts_test {
 protected:
  task_executor_test() { side->create(std::vector<model::lock_definition>{{"a"}}); }

  static decision deciding(outcome::what result) {
    decision made;
    made.outcome.result = result;
    return made;
  }
  // Calls the function in a thread of its own, and lets time pass until it has returned.
  template <class Call>
  std::optional<errc> failure_in_time(Call call) {
    auto called = in_background([&] { return code_of(call); });
    EXPECT_TRUE(eventually([&] {
      time.advance(20ms);
      return called.wait_for(1ms) == std::future_status::ready;
    }));
    return called.get();
  }

  bool usable = true;
  client_layer::task_executor tasks{services(), [this] {
                                      if (!usable) throw error(errc::closed, "not usable");
                                    }};
  client_layer::statement_worker worker{services(), client_layer::worker_role::everything,
                                        [this] { return server->open()->connect(); }};
  struct stopped_worker {
    client_layer::submission_queue& queue;
    std::jthread runs;
    ~stopped_worker() {
      queue.stop_acquires();
      queue.stop();
    }
  } working{queue(), std::jthread{[this] { worker.run(); }}};
};

TEST_F(task_executor_test, runs_work_with_a_workers_session) {
  std::thread::id ran_in;
  tasks.run([&](store::session& session) {
    ran_in = std::this_thread::get_id();
    EXPECT_TRUE(session.show("a"));
  });
  EXPECT_EQ(ran_in, working.runs.get_id());
  EXPECT_EQ(tasks.result_of([](store::session& session) { return session.list().size(); }), 1U);
}

// The caller may have gone on, and the late decision would undo what it has done since.
TEST_F(task_executor_test, makes_no_decision_whose_caller_has_given_up) {
  faults->hang("edit");
  bool is_made = false;
  const auto late = tasks.begin_decision("a", {}, [&](const auto&) {
    is_made = true;
    return deciding(outcome::what::granted);
  });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  EXPECT_FALSE(tasks.await(late, time.now()));
  server->unblock();
  tasks.run([](store::session&) {});  // the worker is through with the edit
  EXPECT_FALSE(is_made);
}

TEST_F(task_executor_test, throws_what_the_work_throws_and_does_not_retry_it) {
  faults->refuse("show");
  EXPECT_EQ(code_of([&] { tasks.run([](store::session& session) { session.show("a"); }); }),
            errc::contention);
  EXPECT_EQ(faults->count("show"), 1);
}

TEST_F(task_executor_test, runs_nothing_when_it_may_not) {
  usable = false;
  EXPECT_EQ(code_of([&] { tasks.run([](store::session&) { ADD_FAILURE(); }); }), errc::closed);
}

TEST_F(task_executor_test, a_call_ends_at_its_limit_and_its_work_keeps_what_it_needs) {
  faults->hang("show");
  const auto kept = std::make_shared<int>();
  auto called = in_background([&, until = time.now() + 1s] {
    return code_of([&] {
      tasks.result_of([kept](store::session& session) { return session.show("a").has_value(); },
                      {.until = until});
    });
  });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  time.advance(1s);
  EXPECT_EQ(called.get(), errc::unreachable);
  EXPECT_GT(kept.use_count(), 1) << "the work is still under way";
  server->unblock();
  EXPECT_TRUE(eventually([&] { return kept.use_count() == 1; }));
}

TEST_F(task_executor_test, a_stopped_call_says_that_it_may_have_happened) {
  faults->hang("show");
  std::stop_source stop;
  auto called = in_background([&] {
    try {
      tasks.run([](store::session& session) { session.show("a"); }, {.stop = stop.get_token()});
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::cancelled);
      return thrown.outcome_unknown();
    }
    return false;
  });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  stop.request_stop();
  EXPECT_TRUE(called.get());
  server->unblock();
}

TEST_F(task_executor_test, work_that_ends_after_its_caller_gave_up_is_undone) {
  faults->hang("show");
  std::atomic<int> undone{0};
  const auto task = tasks.begin([](store::session& session) { session.show("a"); }, [&] { ++undone; });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  EXPECT_FALSE(tasks.await(task, time.now()));
  server->unblock();
  EXPECT_TRUE(eventually([&] { return undone == 1; }));
}

TEST_F(task_executor_test, work_is_not_begun_once_its_caller_has_given_up) {
  faults->hang("show");
  const auto first = tasks.begin([](store::session& session) { session.show("a"); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto second = tasks.begin([](store::session&) { ADD_FAILURE(); });
  EXPECT_FALSE(tasks.await(second, time.now()));
  server->unblock();
  EXPECT_TRUE(tasks.await(first, {}));
  tasks.run([](store::session&) {});
}

TEST_F(task_executor_test, decides_under_the_row_and_says_what_became_of_it) {
  const auto token = server->snapshot().locks.at("a").row.token;
  const auto settled = tasks.decide("a", {}, [](const store::lock_view& view) {
    decision made = deciding(outcome::what::released);
    made.change.row = view.row;
    ++made.change.row->token;
    return made;
  });
  EXPECT_EQ(settled.result, outcome::what::released);
  EXPECT_EQ(server->snapshot().locks.at("a").row.token, token + 1);
  const auto none = tasks.decide("no such lock", {}, [](const store::lock_view&) -> decision {
    ADD_FAILURE();
    return {};
  });
  EXPECT_EQ(none.result, outcome::what::absent);
}

TEST_F(task_executor_test, decides_again_when_something_had_to_be_put_right_first) {
  const auto dead = held_by_rival("a");
  server->expire(dead.lease);
  std::vector<outcome::what> decided;
  const auto settled = tasks.decide("a", {}, [&](const store::lock_view& view) {
    auto made = client_layer::decide_sweep(view, 0us);
    decided.push_back(made.outcome.result);
    return made;
  });
  EXPECT_EQ(settled.result, outcome::what::released);
  EXPECT_THAT(decided, testing::ElementsAre(outcome::what::expired, outcome::what::released));
  EXPECT_TRUE(holder_of("a").is_nil());
}

TEST_F(task_executor_test, a_row_that_stays_locked_is_contention) {
  server->lock_row("a");
  const auto begun = time.now();
  EXPECT_EQ(failure_in_time([&] {
              tasks.decide("a", {},
                           [](const store::lock_view&) { return deciding(outcome::what::released); });
            }),
            errc::contention);
  EXPECT_GE(time.now() - begun, environment().settings.statement_timeout);
}

TEST_F(task_executor_test, one_round_of_a_decision_tells_whether_another_is_needed) {
  server->lock_row("a");
  const auto released = [](const store::lock_view&) { return deciding(outcome::what::released); };
  const auto locked = tasks.begin_decision("a", {}, released);
  EXPECT_TRUE(tasks.await(locked, {}));
  EXPECT_FALSE(client_layer::task_executor::outcome_of(*locked));
  server->unlock_row("a");
  const auto guarded =
      tasks.begin_decision("a", {}, [](const store::lock_view&) { return deciding(outcome::what::guarded); });
  EXPECT_TRUE(tasks.await(guarded, {}));
  EXPECT_FALSE(client_layer::task_executor::outcome_of(*guarded));
  const auto done = tasks.begin_decision("a", {}, released);
  EXPECT_TRUE(tasks.await(done, {}));
  EXPECT_EQ(client_layer::task_executor::outcome_of(*done)->result, outcome::what::released);
}

TEST_F(task_executor_test, a_decision_may_be_retried_through_an_outage) {
  faults->lose_answer("edit");
  std::atomic<int> decided{0};
  const client_layer::lock_decision decide = [&](const store::lock_view& view) {
    ++decided;
    decision made = deciding(outcome::what::released);
    made.change.row = view.row;
    ++made.change.row->token;
    return made;
  };
  EXPECT_EQ(code_of([&] { tasks.decide("a", {}, decide); }), errc::unreachable);
  EXPECT_EQ(decided, 1);
  faults->lose_answer("edit");
  auto retried = in_background([&] { return tasks.decide_with_retry("a", {}, decide).result; });
  EXPECT_TRUE(eventually([&] {
    time.advance(20ms);
    return retried.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_EQ(retried.get(), outcome::what::released);
  EXPECT_EQ(decided, 3);
}

TEST_F(task_executor_test, what_is_refused_for_good_is_not_retried) {
  faults->deny("edit", 100);
  EXPECT_EQ(code_of([&] {
              tasks.decide_with_retry(
                  "a", {}, [](const store::lock_view&) { return deciding(outcome::what::released); });
            }),
            errc::privilege);
  EXPECT_EQ(faults->count("edit"), 1);
}

TEST_F(task_executor_test, creates_a_lock_that_is_missing_before_it_decides) {
  const auto settled =
      tasks.decide_or_create({"new", model::lock_kind::semaphore, 3}, [](const store::lock_view& view) {
        auto made = deciding(outcome::what::released);
        made.outcome.remaining = view.row.capacity;
        return made;
      });
  EXPECT_EQ(settled.remaining, 3);
  EXPECT_EQ(server->snapshot().locks.at("new").row.kind, model::lock_kind::semaphore);
}

TEST_F(task_executor_test, a_closed_client_ends_the_pause_between_two_tries) {
  server->lock_row("a");
  auto called = in_background([&] {
    return code_of([&] {
      tasks.decide("a", {}, [](const store::lock_view&) { return deciding(outcome::what::released); });
    });
  });
  ASSERT_TRUE(eventually([&] { return faults->count("edit") > 0; }));
  environment().pauses.close();
  EXPECT_EQ(called.get(), errc::closed);
}

}  // namespace
}  // namespace rowlock::test
