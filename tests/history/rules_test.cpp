// Each rule finds the history that was made to break it, and nothing in the good one.
#include "excerpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "support/temporary_folder.hpp"

namespace rowlock::history {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string data = ROWLOCK_SOURCE_DIR "/tests/history/data/";

std::vector<event> read(const std::string& name) {
  std::ifstream file{data + name};
  EXPECT_TRUE(file) << name;
  std::vector<event> events;
  read_events(file, name, events);
  sort_events(events);
  return events;
}

std::vector<std::string> broken_rules(const std::string& name) {
  std::vector<std::string> rules;
  for (const auto& one : check(read(name))) rules.push_back(one.rule);
  return rules;
}

std::vector<event> parse(const std::string& text) {
  std::istringstream from{text};
  std::vector<event> events;
  read_events(from, "text", events);
  return events;
}

int run(const std::string& arguments) {
  const int status =
      std::system((std::string{ROWLOCK_CHECK_PATH} + " " + arguments + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(rules_test, a_good_history_is_accepted) {
  EXPECT_THAT(broken_rules("good.jsonl"), ElementsAre());
}

TEST(rules_test, each_fault_is_found_by_its_rule) {
  const std::pair<const char*, const char*> faults[] = {
      {"overlap.jsonl", "exclusion"},         // holds that overlap
      {"overfull.jsonl", "exclusion"},        // more permits of a semaphore than it has
      {"falling_token.jsonl", "tokens"},      // a token that is lower than an earlier one
      {"repeated_token.jsonl", "tokens"},     // two grants with one token
      {"overtaken.jsonl", "order"},           // a later waiter was granted first
      {"released_stands.jsonl", "orphan"},    // a hold stands after its release
      {"granted_to_nobody.jsonl", "orphan"},  // nobody had requested the grant
      {"lost_wakeup.jsonl", "wake-up"},       // a waiter waits for a free lock
  };
  for (const auto& [file, rule] : faults) EXPECT_THAT(broken_rules(file), ElementsAre(rule)) << file;
}

TEST(rules_test, the_excerpt_marks_the_proof_and_hides_control_characters) {
  auto events = read("overlap.jsonl");
  for (auto& one : events) one.actor += "\x1b[2J";
  const auto found = check(events);
  ASSERT_EQ(found.size(), 1U);
  std::ostringstream text;
  print(found[0], events, locks_of(events).at(found[0].name), text);
  EXPECT_THAT(text.str(), HasSubstr("exclusion: billing: 2 holds with a weight of 2 stood together"));
  EXPECT_THAT(text.str(), HasSubstr("  > "));
  EXPECT_THAT(text.str(), HasSubstr("overlap.jsonl:2"));
  EXPECT_EQ(text.str().find('\x1b'), std::string::npos);
}

TEST(rules_test, an_incomplete_last_line_is_skipped_and_any_other_is_refused) {
  const std::string good =
      R"({"event":"invoke","op":"acquire","boot_ns":1,"process":"1","name":"a","call":1})"
      "\n";
  EXPECT_EQ(parse(good + R"({"event":"ok","op":"acq)").size(), 1U);
  EXPECT_THROW(parse("{}\n" + good), bad_history);
  EXPECT_THROW(parse(R"({"event":"maybe","op":"acquire","boot_ns":1,"process":"1","name":"a"})"
                     "\n"),
               bad_history);
  auto answered_twice = parse(good);
  answered_twice.push_back(answered_twice[0]);
  EXPECT_THROW(locks_of(answered_twice), bad_history);
}

TEST(rules_test, the_command_says_what_it_found) {
  const test::temporary_folder folder;
  const auto picture = (folder.path() / "timeline.svg").string();
  EXPECT_EQ(run(data + "good.jsonl"), 0);
  EXPECT_EQ(run(data + "overlap.jsonl --svg " + picture), 1);
  std::ifstream drawn{picture};
  const std::string text{std::istreambuf_iterator<char>{drawn}, {}};
  EXPECT_THAT(text, HasSubstr("<svg"));
  EXPECT_THAT(text, HasSubstr("#d02020"));
  EXPECT_EQ(run(data + "lost_wakeup.jsonl --bound 60"), 0);
  EXPECT_EQ(run("/nonexistent"), 64);
  EXPECT_EQ(run(""), 64);
  EXPECT_EQ(run(data + "good.jsonl --bound never"), 64);
}

}  // namespace

}  // namespace rowlock::history
