#include "client/core/acquire_progress.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace rowlock::test {

namespace {

using client_layer::acquire_progress;
using step = acquire_progress::step;

acquire_progress at(step wanted) {
  acquire_progress made;
  switch (wanted) {
    case step::fast: break;
    case step::enqueue: made.fast_sent(), made.answered(); break;
    case step::edit: made.needs_edit(); break;
    case step::find_out: made.sent(), made.failed(false); break;
  }
  return made;
}

struct transition {
  std::string name;
  std::function<void(acquire_progress&)> apply;
  step from_fast, from_enqueue, from_edit, from_find_out;
};

}  // namespace

// The table of acquire_progress.hpp.
TEST(acquire_progress_test, each_event_leads_to_the_step_of_the_table) {
  const std::vector<transition> table{
      {"fast_sent", [](auto& one) { one.fast_sent(); }, step::enqueue, step::enqueue, step::edit,
       step::find_out},
      {"row_locked, may join", [](auto& one) { one.row_locked(true); }, step::fast, step::fast, step::edit,
       step::find_out},
      {"row_locked", [](auto& one) { one.row_locked(false); }, step::edit, step::edit, step::edit,
       step::find_out},
      {"needs_edit", [](auto& one) { one.needs_edit(); }, step::edit, step::edit, step::edit, step::find_out},
      {"queued", [](auto& one) { one.queued(); }, step::edit, step::edit, step::edit, step::find_out},
      {"failed", [](auto& one) { one.sent(), one.failed(false); }, step::find_out, step::find_out,
       step::find_out, step::find_out},
      {"refused", [](auto& one) { one.sent(), one.failed(true); }, step::fast, step::enqueue, step::edit,
       step::find_out},
      {"failed, nothing under way", [](auto& one) { one.failed(false); }, step::fast, step::enqueue,
       step::edit, step::find_out},
      {"granted", [](auto& one) { one.granted(true); }, step::fast, step::enqueue, step::edit,
       step::find_out},
      {"restart", [](auto& one) { one.restart(); }, step::fast, step::fast, step::fast, step::fast},
  };
  for (const auto& [name, apply, from_fast, from_enqueue, from_edit, from_find_out] : table) {
    const std::vector<std::pair<step, step>> rows{{step::fast, from_fast},
                                                  {step::enqueue, from_enqueue},
                                                  {step::edit, from_edit},
                                                  {step::find_out, from_find_out}};
    for (const auto& [from, to] : rows) {
      auto progress = at(from);
      ASSERT_EQ(progress.next(), from);
      apply(progress);
      EXPECT_EQ(progress.next(), to) << name << " from step " << static_cast<int>(from);
    }
  }
}

TEST(acquire_progress_test, only_a_statement_under_way_leaves_a_doubt) {
  acquire_progress progress;
  progress.fast_sent();
  EXPECT_TRUE(progress.answered());
  EXPECT_FALSE(progress.answered());
  progress.failed(false);
  EXPECT_FALSE(progress.is_in_doubt());
}

TEST(acquire_progress_test, a_new_request_remembers_that_the_old_one_was_queued) {
  acquire_progress progress;
  EXPECT_FALSE(progress.was_queued());
  progress.queued();
  progress.restart();
  EXPECT_TRUE(progress.was_queued());
  EXPECT_TRUE(progress.may_try_fast());
}

TEST(acquire_progress_test, a_new_request_forgets_that_others_waited_for_the_old_one) {
  acquire_progress progress;
  EXPECT_FALSE(progress.was_contended());
  progress.granted(true);
  progress.needs_edit();
  EXPECT_TRUE(progress.was_contended()) << "the edit moves it to a lease of its own";
  progress.restart();
  EXPECT_FALSE(progress.was_contended());
}

TEST(acquire_progress_test, knows_whether_the_database_may_have_something_under_its_id) {
  acquire_progress progress;
  progress.fast_sent();
  EXPECT_TRUE(progress.may_be_stored()) << "until there is an answer";
  progress.answered();
  progress.row_locked(false);
  EXPECT_FALSE(progress.may_be_stored());
  progress.sent();
  progress.failed(false);
  EXPECT_TRUE(progress.may_be_stored()) << "the answer was lost";
  for (const auto store :
       {+[](acquire_progress& one) { one.queued(); }, +[](acquire_progress& one) { one.granted(); }}) {
    acquire_progress stored;
    store(stored);
    EXPECT_TRUE(stored.may_be_stored());
    stored.restart();
    EXPECT_FALSE(stored.may_be_stored()) << "its new id is unknown there";
  }
}

}  // namespace rowlock::test
