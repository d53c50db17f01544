#include "client/base/log_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class log_writer_test : public testing::Test {
 protected:
  void write(const std::string& line) { writer.write(log_level::info, line); }
  // Writes what run() would write until nothing more comes.
  void write_the_rest() {
    writer.stop();
    writer.run();
  }

  std::vector<std::string> lines;
  client_layer::log_writer writer{[this](log_level, std::string_view line) { lines.emplace_back(line); }};
};

TEST_F(log_writer_test, without_a_function_is_silent) {
  client_layer::log_writer silent{{}};
  EXPECT_TRUE(silent.is_silent());
  EXPECT_FALSE(writer.is_silent());
  silent.write(log_level::error, "nobody reads this");
  silent.start();
  silent.write(log_level::error, "nor this");
  silent.stop();
  silent.run();
}

TEST_F(log_writer_test, writes_at_once_before_it_is_started) {
  write("one");
  EXPECT_THAT(lines, ElementsAre("one"));
}

TEST_F(log_writer_test, once_started_leaves_all_lines_to_its_thread_in_their_order) {
  writer.start();
  for (const auto* line : {"one", "two", "three"}) write(line);
  EXPECT_THAT(lines, IsEmpty());
  write_the_rest();
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
}

TEST_F(log_writer_test, its_thread_writes_what_comes_while_it_waits) {
  std::promise<std::thread::id> written;
  client_layer::log_writer threaded{
      [&](log_level, std::string_view) { written.set_value(std::this_thread::get_id()); }};
  threaded.start();
  std::jthread runs{[&] { threaded.run(); }};
  threaded.write(log_level::info, "one");
  EXPECT_EQ(written.get_future().get(), runs.get_id());
  threaded.stop();
}

TEST_F(log_writer_test, drops_what_comes_after_the_stop) {
  writer.start();
  write("before");
  writer.stop();
  write("after");
  writer.start();
  write("after another start");
  writer.run();
  EXPECT_THAT(lines, ElementsAre("before"));
}

TEST_F(log_writer_test, writes_nothing_more_when_it_was_told_to_drop_all) {
  writer.start();
  write("one");
  writer.drop();
  write("two");
  writer.run();
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(log_writer_test, counts_the_lines_that_it_is_too_slow_for) {
  writer.start();
  constexpr std::size_t kept = 10'000;
  for (std::size_t i = 0; i < kept + 3; ++i) write("line " + std::to_string(i));
  write_the_rest();
  ASSERT_EQ(lines.size(), kept + 1);
  EXPECT_EQ(lines[kept - 1], "line 9999") << "the first are kept";
  EXPECT_EQ(lines.back(), "3 lines of the log were left out");
}

// Events, too.
class event_writer_test : public testing::Test {
 protected:
  void tell(const std::string& name) {
    hold_event event;
    event.name = name;
    writer.tell(std::move(event));
  }
  void pass_on_the_rest() {
    writer.stop();
    writer.run();
  }

  std::vector<std::string> calls;
  client_layer::log_writer writer{
      [this](log_level, std::string_view line) { calls.emplace_back(line); },
      [this](const hold_event& event) { calls.push_back("event " + event.name); }};
};

TEST_F(event_writer_test, knows_what_is_wanted) {
  EXPECT_TRUE(writer.tells_events());
  const client_layer::log_writer lines_alone{[](log_level, std::string_view) {}};
  EXPECT_FALSE(lines_alone.tells_events());
}

TEST_F(event_writer_test, leaves_events_to_its_thread_in_their_order_among_the_lines) {
  tell("early");
  EXPECT_THAT(calls, IsEmpty()) << "the caller may have locked a mutex";
  writer.start();
  tell("a");
  writer.write(log_level::info, "one");
  tell("b");
  EXPECT_THAT(calls, IsEmpty());
  pass_on_the_rest();
  EXPECT_THAT(calls, ElementsAre("event early", "event a", "one", "event b"));
}

TEST_F(event_writer_test, drops_events_that_come_after_the_stop) {
  writer.start();
  writer.stop();
  tell("a");
  writer.run();
  EXPECT_THAT(calls, IsEmpty());
}

TEST_F(event_writer_test, counts_the_lines_and_the_events_that_it_is_too_slow_for) {
  writer.start();
  constexpr std::size_t kept = 10'000;
  for (std::size_t i = 0; i < kept + 3; ++i) tell("a");
  for (int i = 0; i < 2; ++i) writer.write(log_level::info, "one");
  EXPECT_EQ(writer.events_left_out(), 3U);
  pass_on_the_rest();
  ASSERT_EQ(calls.size(), kept + 2);
  EXPECT_EQ(calls[kept - 1], "event a");
  EXPECT_EQ(calls[kept], "2 lines of the log were left out");
  EXPECT_EQ(calls[kept + 1], "3 events were left out");
}

TEST_F(event_writer_test, needs_no_log_and_survives_a_function_that_throws) {
  client_layer::log_writer events_alone{{}, [this](const hold_event& event) {
                                          calls.push_back(event.name);
                                          throw std::runtime_error("the disk is full");
                                        }};
  EXPECT_TRUE(events_alone.is_silent());
  events_alone.start();
  for (std::size_t i = 0; i < 10'001; ++i) events_alone.tell({});
  events_alone.write(log_level::info, "nobody reads this");
  events_alone.stop();
  events_alone.run();
  EXPECT_EQ(calls.size(), 10'000U);
  EXPECT_EQ(events_alone.events_left_out(), 1U);
}

TEST_F(log_writer_test, goes_on_when_the_function_throws) {
  client_layer::log_writer throwing{[this](log_level, std::string_view line) {
    lines.emplace_back(line);
    throw std::runtime_error("the disk is full");
  }};
  throwing.write(log_level::info, "at once");
  throwing.start();
  throwing.write(log_level::info, "one");
  throwing.write(log_level::info, "two");
  throwing.stop();
  throwing.run();
  EXPECT_THAT(lines, ElementsAre("at once", "one", "two"));
}

}  // namespace
}  // namespace rowlock::test
