#include "client/worker/edit_task.hpp"

#include "client/parts_test.hpp"
#include "client/worker/statement_worker.hpp"
#include "client/worker/task_executor.hpp"

#include <functional>
#include <future>
#include <thread>

namespace rowlock::test {
namespace {

class edit_task_test : public parts_test {
 protected:
  ~edit_task_test() override {
    queue().stop_acquires();
    queue().stop();
  }

  using decisions = std::vector<std::shared_ptr<client_layer::edit_task>>;

  static client_layer::decision edited(const store::lock_view& view) {
    client_layer::decision made;
    made.outcome.result = client_layer::outcome::what::released;
    made.outcome.token = view.row.name.front();
    made.change.row = view.row;
    ++made.change.row->token;
    return made;
  }
  // What begin() begins comes while the worker is busy.
  decisions while_busy(const std::function<decisions()>& begin) {
    std::promise<void> free;
    const auto busy = tasks.begin([&](store::session&) { free.get_future().wait(); });
    auto begun = begin();
    free.set_value();
    tasks.await(busy, {});
    return begun;
  }
  decisions begin_three() {
    return while_busy([&] {
      decisions begun;
      for (const auto* name : {"c", "a", "b"}) begun.push_back(tasks.begin_decision(name, {}, edited));
      return begun;
    });
  }
  // How often a decision has been carried out.
  model::token edits_of(const std::string& name) { return token_of(name) - initial; }

  client_layer::task_executor tasks{services(), [] {}};

 private:
  model::token token_of(const std::string& name) { return side->show(name)->row.token; }

  const model::token initial = [this] {
    side->create(std::vector<model::lock_definition>{{"a"}, {"b"}, {"c"}});
    return token_of("a");
  }();
  client_layer::statement_worker worker{services(), client_layer::worker_role::everything,
                                        [this] { return server->open()->connect(); }};
  std::jthread working{[this] { worker.run(); }};
};

TEST_F(edit_task_test, serves_decisions_about_different_locks) {
  for (const auto& one : begin_three()) {
    EXPECT_TRUE(tasks.await(one, {}));
    EXPECT_EQ(client_layer::task_executor::outcome_of(*one)->token, one->edits.front());
    EXPECT_EQ(edits_of(one->edits), 1);
  }
  EXPECT_EQ(faults->count("edit"), 1);
}

TEST_F(edit_task_test, that_is_refused_is_taken_apart) {
  faults->deny("edit", 2);  // the shared one, and the first that is sent by itself
  int refused = 0;
  for (const auto& one : begin_three()) {
    try {
      tasks.await(one, {});
      EXPECT_EQ(edits_of(one->edits), 1);
    } catch (const error& failure) {
      EXPECT_EQ(failure.kind(), errc::privilege);
      EXPECT_EQ(edits_of(one->edits), 0);
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(faults->count("edit"), 4);
}

// The kill of a dead holder follows the commit, and concerns the one whose decision waits for it.
TEST_F(edit_task_test, that_fails_after_its_commit_has_failed_only_for_those_that_it_has_not_settled) {
  faults->deny("kill");
  const auto begun = while_busy([&] {
    return decisions{tasks.begin_decision("a", {}, edited), tasks.begin_decision("b", {}, [](const auto&) {
                       client_layer::decision made;
                       made.outcome.result = client_layer::outcome::what::expired;
                       made.outcome.leases.push_back(model::lease_id::random());
                       return made;
                     })};
  });
  EXPECT_TRUE(tasks.await(begun[0], {}));
  EXPECT_EQ(edits_of("a"), 1);
  EXPECT_EQ(code_of([&] { tasks.await(begun[1], {}); }), errc::privilege);
}

TEST_F(edit_task_test, without_an_answer_is_in_doubt_for_all) {
  faults->lose_answer("edit");
  for (const auto& one : begin_three()) {
    try {
      tasks.await(one, {});
      ADD_FAILURE() << "there was no answer";
    } catch (const error& failure) {
      EXPECT_TRUE(failure.outcome_unknown()) << failure.what();
    }
    EXPECT_EQ(edits_of(one->edits), 1) << "it is not repeated";
  }
}

}  // namespace
}  // namespace rowlock::test
