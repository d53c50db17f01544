// Names with characters that mean something to SQL, a shell, JSON or a terminal pass unchanged through every
// path of the library and the command.
#include "cli/cli_test.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;

std::vector<std::string> hostile_names() {
  std::string longest;
  while (longest.size() + 4 <= 512) longest += "\xf0\x9f\x94\x92";
  return {"it's \"quoted\" `so`",
          "'; DROP TABLE rowlock_lock; --",
          "\\'; \\\" \\\\ \\",
          "$(touch /tmp/rowlock-injected) `id` ${HOME} && false | cat > x",
          "%s %n %1$s {0} {{}} $1 $$ ? :name @x",
          "{a,\"b\",NULL} [c] (d)",
          "a/../../etc/passwd *?",
          "-- /* # ;",
          " leading and trailing ",
          "\"},{\"name\":\"other",
          "<b>&amp;</b>",
          "a\xe2\x80\xae"
          "b\xe2\x81\xa6\xc2\xad",  // bidirectional controls, a soft hyphen
          "\xc3\xbc"
          "u\xcc\x88 NULL null",  // the same letter composed and decomposed
          longest};
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; });
}

}  // namespace

class hostile_names_test : public cli_test {
 protected:
  client connect() const {
    options settings;
    settings.prefix = store->options().prefix;
    settings.schema = store->options().schema;
    return rowlock::connect(store->url(), settings);
  }
};

TEST_P(hostile_names_test, mean_themselves_to_the_library) {
  auto mine = connect();
  auto other = connect();
  admin database{mine};
  for (const auto& name : hostile_names()) {
    SCOPED_TRACE(name);
    mutex first{mine, name};
    mutex second{other, name};
    auto held = first.acquire();
    EXPECT_EQ(held.name(), name);
    EXPECT_FALSE(second.try_acquire_for(1ms));
    ASSERT_TRUE(database.show(name));
    EXPECT_EQ(database.show(name)->name, name);
    auto moved = adopt(other, held.transfer(10s));
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved.name(), name);
    EXPECT_EQ(moved.release(), release_result::released);

    // Permits and groups of locks go through other statements.
    if (name.size() < 512) {
      counting_semaphore permits{mine, name + "s", 3};
      auto some = permits.acquire(2);
      auto both = try_acquire_all_for(10s, {mutex{mine, name}, mutex{mine, name + "2"}});
      EXPECT_TRUE(both);
      EXPECT_EQ(some.release(), release_result::released);
    }
  }
  EXPECT_GE(database.list().size(), hostile_names().size());
  EXPECT_THROW(static_cast<void>(mutex(mine, "a\x1b[2J").acquire()), error);
}

TEST_P(hostile_names_test, mean_themselves_to_the_command) {
  std::vector<std::string> expected;
  for (const auto& name : hostile_names()) {
    SCOPED_TRACE(name);
    if (name.starts_with('-')) continue;  // an option
    expected.push_back(name);
    const auto ran = rowlock({"run", name, "--", "printenv", "ROWLOCK_NAME"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, name + "\n");
  }
  std::vector<std::string> listed;
  for (const auto& lock : json_of({"list"})) listed.push_back(lock.at("name"));
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(expected));

  const auto table = rowlock({"list"});
  EXPECT_FALSE(has_control(table.out));
  for (const char* hidden : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xc2\xad"}) {
    EXPECT_EQ(table.out.find(hidden), std::string::npos);
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table.out, '\n')), expected.size() + 1);

  for (const auto& name : expected) {
    SCOPED_TRACE(name);
    EXPECT_EQ(json_of({"show", name}).at(0).at("name"), name);
    EXPECT_FALSE(has_control(rowlock({"show", name}).out));
    EXPECT_THAT(json_of({"queue", name}), testing::IsEmpty());
    EXPECT_EQ(rowlock({"release", name, "--force"}).exit_code, 0);
  }
  const auto refused = rowlock({"run", "a\x1b[2J", "--", "true"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_FALSE(has_control(refused.err));
}

ROWLOCK_FOR_EACH_SQL_STORE(hostile_names_test);

}  // namespace rowlock::test
