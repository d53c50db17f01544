// --data of run and acquire, and how show, list and watch tell it.
#include "cli/cli_test.hpp"
#include "cli/terminal_process.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>

namespace rowlock::test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class run_data_test : public cli_test {
 protected:
  nlohmann::json data_of(const std::string& name, const std::string& how = "show") {
    words line{how};
    if (how == "show") line.push_back(name);
    for (const auto& lock : json_of(line)) {
      if (lock.at("name") == name) return lock.at("holders").at(0).at("data");
    }
    return {};
  }
};

TEST_P(run_data_test, is_shown_while_the_command_runs) {
  auto deploys = hold("deploy", {"--data", "deploy 4711, build server"});
  EXPECT_EQ(data_of("deploy"), "deploy 4711, build server");
  EXPECT_EQ(data_of("deploy", "list"), "deploy 4711, build server");
  EXPECT_THAT(rowlock({"show", "deploy"}).out, HasSubstr("  data        deploy 4711, build server\n"));
  EXPECT_THAT(rowlock({"list"}).out, Not(HasSubstr("4711")));
  auto next = wait_for("deploy");
  deploys->close_input();
  EXPECT_EQ(next->wait().out, "mine\n");
  const auto other = hold("deploy");
  EXPECT_EQ(data_of("deploy"), "");
  EXPECT_THAT(rowlock({"show", "deploy"}).out, Not(HasSubstr("  data ")));
}

TEST_P(run_data_test, is_watched_as_it_changes) {
  options settings;
  settings.prefix = store->options().prefix;
  auto db = connect(as_role(store->url(), role_use::run), settings);
  const auto held = mutex(db, "load").acquire();
  counting_semaphore shards{db, "shards", 3};
  const auto one = shards.acquire();
  const auto two = shards.acquire();
  auto watching = start({"watch", "load", "--interval", "100ms"});
  auto all = start({"watch", "shards", "--interval", "100ms", "--json"});
  EXPECT_THAT(watching->read_line(), HasSubstr(", token "));
  EXPECT_EQ(nlohmann::json::parse(all->read_line()).at("change"), "seen");
  for (const std::string text : {"shard 3", "shard \x1b[2J4"}) {
    held.set_data(text);
    const auto shown = text.find('4') == std::string::npos ? text : "shard \\x1b[2J4";
    EXPECT_THAT(watching->read_line(), EndsWith(", data \"" + shown + '"'));
    two.set_data(text);
    const auto change = nlohmann::json::parse(all->read_line());
    EXPECT_EQ(change.at("change"), "changed");
    std::vector<std::string> texts;
    for (const auto& holder : change.at("lock").at("holders")) texts.push_back(holder.at("data"));
    EXPECT_THAT(texts, testing::UnorderedElementsAre("", text));
  }
  held.set_data("");
  EXPECT_THAT(watching->read_line(), Not(HasSubstr("data")));
}

TEST_P(run_data_test, has_a_column_in_the_table_of_watch_if_there_is_any) {
  auto other = hold("billing");
  terminal_process watching{{"watch", "--interval", "100ms"}, environment(), 250};
  watching.read_until("billing");
  EXPECT_THAT(watching.read_until("billing"), Not(HasSubstr("DATA")));
  auto deploys = hold("deploy", {"--data", "deploy 4711, build server, with more than there is room for"});
  EXPECT_THAT(watching.read_until("deploy 4711, build server"), HasSubstr("DATA"));
  EXPECT_THAT(watching.read_until("\x1b[J"), Not(HasSubstr("than there is room")));
  watching.press("q");
  EXPECT_EQ(watching.exit_code(), 0);
}

TEST_P(run_data_test, belongs_to_each_holder_of_several) {
  const auto one = hold("gpu", {"--permits", "2", "--capacity", "3", "--data", "shard 1"});
  const auto two = hold("gpu", {"--capacity", "3", "--data", "shard 2"});
  const auto reader = hold("catalog", {"--shared", "--data", "report"});
  const auto writer = hold("index", {"--exclusive", "--data", "rebuild"});
  const auto holders = json_of({"show", "gpu"}).at(0).at("holders");
  EXPECT_EQ(holders.at(0).at("data"), "shard 1");
  EXPECT_EQ(holders.at(1).at("data"), "shard 2");
  EXPECT_EQ(data_of("catalog"), "report");
  EXPECT_EQ(data_of("index"), "rebuild");
}

TEST_P(run_data_test, of_acquire_stays_until_the_receipt_is_used) {
  for (const words& kind : std::vector<words>{{}, {"--permits", "2", "--capacity", "3"}}) {
    const std::string name = kind.empty() ? "job" : "slots";
    words line{"acquire", name, "--ttl", "10m", "--data", "step 1"};
    line.insert(line.end(), kind.begin(), kind.end());
    const auto acquired = rowlock(line);
    ASSERT_EQ(acquired.exit_code, 0) << acquired.err;
    EXPECT_EQ(data_of(name), "step 1");
    const auto receipt = acquired.out.substr(0, acquired.out.size() - 1);
    const auto renewed = rowlock({"renew", receipt, "--ttl", "20m"});
    ASSERT_EQ(renewed.exit_code, 0) << renewed.err;
    EXPECT_EQ(data_of(name), "step 1") << "it was adopted and transferred";
  }
}

TEST_P(run_data_test, means_itself_to_sql_json_and_a_terminal) {
  const std::string text =
      "it's \"quoted\" `so`'; DROP TABLE rowlock_lock; -- \\'; \\\" \\\\ \\ %s %n {0} {{}} $1 ? :name @x "
      "\"},{\"name\":\"other\nline two\ttab\r\x1b[2J\x1b]0;title\x07 a\xe2\x80\xaez\xc2\xad";
  const auto exclusive = hold("job", {"--data=" + text});
  const auto permit = hold("slots", {"--capacity", "3", "--data=" + text});
  const auto has_control = [](const std::string& shown) {
    return std::ranges::any_of(shown, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; });
  };
  for (const std::string name : {"job", "slots"}) {
    EXPECT_EQ(data_of(name), text);
    EXPECT_EQ(data_of(name, "list"), text);
    const auto shown = rowlock({"show", name}).out;
    EXPECT_FALSE(has_control(shown));
    EXPECT_EQ(shown.find("\nline two"), std::string::npos) << "it is one line";
    for (const char* hidden : {"\xe2\x80\xae", "\xc2\xad"}) EXPECT_EQ(shown.find(hidden), std::string::npos);
    EXPECT_FALSE(has_control(rowlock({"show", name, "--json"}).out));
  }
}

TEST_P(run_data_test, is_cut_to_the_width_of_a_terminal) {
  const auto holder = hold("job", {"--data", std::string(4093, 'x') + "END"});
  EXPECT_THAT(rowlock({"show", "job"}).out, HasSubstr("xEND\n"));
  for (const unsigned short columns : {60, 5}) {
    terminal_process shown{{"show", "job"}, environment(), columns};
    const auto text = shown.read_until("expires in");
    EXPECT_THAT(text, HasSubstr("x...")) << columns;
    EXPECT_THAT(text, Not(HasSubstr(std::string(60, 'x'))));
    EXPECT_EQ(shown.exit_code(), 0);
  }
}

TEST_P(run_data_test, that_is_no_text_is_refused_before_the_wait) {
  const auto holder = hold("job");
  for (const auto& text : {std::string(4097, 'x'), std::string{"\xff\xfe"}}) {
    const auto run = rowlock({"run", "job", "--data", text, "--", "true"});
    EXPECT_EQ(run.exit_code, 64) << run.err;
    const auto acquired = rowlock({"acquire", "job", "--ttl", "10m", "--data", text});
    EXPECT_EQ(acquired.exit_code, 64) << acquired.err;
  }
  EXPECT_EQ(data_of("job"), "");
}

ROWLOCK_FOR_EACH_SQL_STORE(run_data_test);

}  // namespace rowlock::test
