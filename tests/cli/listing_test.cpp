#include "cli/cli_test.hpp"

#include <algorithm>
#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

class listing_test : public cli_test {};

TEST_P(listing_test, nothing_is_an_empty_array) {
  EXPECT_THAT(json_of({"list"}), IsEmpty());
  EXPECT_EQ(rowlock({"list"}).out, "");
}

TEST_P(listing_test, list_and_show_tell_the_holder) {
  auto holder = hold("job", {"--ttl", "30s"});
  auto waiter = wait_for("job");
  rowlock({"run", "idle", "--", "true"});

  const auto all = json_of({"list"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("name"), "idle");
  EXPECT_EQ(all[0].at("in_use"), 0);
  EXPECT_THAT(all[0].at("holders"), IsEmpty());

  const auto one = json_of({"show", "job"});
  ASSERT_EQ(one.size(), 1U);
  for (const auto& lock : {one[0], all[1]}) {
    EXPECT_EQ(lock.at("name"), "job");
    EXPECT_EQ(lock.at("kind"), "mutex");
    EXPECT_EQ(lock.at("capacity"), 1);
    EXPECT_EQ(lock.at("in_use"), 1);
    EXPECT_EQ(lock.at("waiters"), 1);
    EXPECT_GT(lock.at("token").get<long long>(), 0);
    ASSERT_EQ(lock.at("holders").size(), 1U);
    const auto& held = lock.at("holders")[0];
    EXPECT_EQ(held.at("pid"), holder->pid());
    EXPECT_NE(held.at("host"), "");
    EXPECT_EQ(held.at("application"), "rowlock run");
    EXPECT_THAT(held.at("hold_id").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
    EXPECT_GE(held.at("held_ms").get<long long>(), 0);
    EXPECT_GT(held.at("expires_in_ms").get<long long>(), 0);
    EXPECT_LE(held.at("expires_in_ms").get<long long>(), 30'000);
  }
}

TEST_P(listing_test, list_filters_and_sorts) {
  for (const auto* name : {"a/free", "a/x_y", "b/free"}) rowlock({"run", name, "--", "true"});
  auto older = hold("a/older");
  auto newer = hold("b/newer");
  auto first = wait_for("b/newer");
  auto second = wait_for("b/newer");
  auto third = wait_for("a/older");
  const auto names = [&](words options) {
    options.insert(options.begin(), "list");
    words result;
    for (const auto& lock : json_of(options)) result.push_back(lock.at("name"));
    return result;
  };
  EXPECT_EQ(names({}), (words{"a/free", "a/older", "a/x_y", "b/free", "b/newer"}));
  EXPECT_EQ(names({"a/*"}), (words{"a/free", "a/older", "a/x_y"}));
  EXPECT_EQ(names({"a/x_?"}), words{"a/x_y"});
  EXPECT_EQ(names({"?/%"}), words{});
  EXPECT_EQ(names({"--held"}), (words{"a/older", "b/newer"}));
  EXPECT_EQ(names({"--waiting", "--sort", "waiters"}), (words{"b/newer", "a/older"}));
  EXPECT_EQ(names({"--sort", "age"}), (words{"a/older", "b/newer", "a/free", "a/x_y", "b/free"}));
  EXPECT_EQ(names({"--sort", "age", "--limit", "2"}), (words{"a/older", "b/newer"}));
  EXPECT_EQ(names({"--limit", "2"}), (words{"a/free", "a/older"}));
  EXPECT_EQ(names({"*free", "--held"}), words{});
  EXPECT_THAT(rowlock({"list", "*free", "--held"}).err, HasSubstr("no lock matches"));
  for (const words& wrong : {words{"list", "--sort", "size"}, {"list", "--limit", "0"}, {"list", "a", "b"}}) {
    EXPECT_EQ(rowlock(wrong).exit_code, 64);
  }
}

// There are more locks than the command has in memory at once, which is a page of 1000.
TEST_P(listing_test, list_reads_page_by_page) {
  auto session = store->open()->connect();
  session->record_database_state();
  constexpr int count = 2'500;
  std::vector<model::lock_definition> locks;
  for (int i = 0; i < count; ++i) locks.push_back({"n" + std::to_string(10'000 + i)});
  session->create(locks);
  const auto all = json_of({"list"});
  ASSERT_EQ(all.size(), count);
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(i)].at("name"), locks[static_cast<std::size_t>(i)].name);
  const auto lines = rowlock({"list"}).out;
  EXPECT_EQ(std::ranges::count(lines, '\n'), count + 1) << "one heading";
  EXPECT_EQ(json_of({"list", "--limit", "1001"}).size(), 1001U);
  EXPECT_EQ(json_of({"list", "*9"}).size(), count / 10U);
  EXPECT_EQ(json_of({"list", "--sort", "waiters", "--limit", "3"}).size(), 3U);
}

TEST_P(listing_test, says_who_holds_and_waits) {
  const std::string secret = "--password=hush";
  auto holder = start(
      {"run", "job", "--application", "nightly", "--", "sh", "-c", "echo held; cat >/dev/null", secret});
  EXPECT_EQ(holder->read_line(), "held");
  auto waiter = wait_for("job", {"--show-arguments"});
  const auto held = json_of({"list"}).at(0).at("holders").at(0);
  const std::string user = held.at("user");
  EXPECT_NE(user, "");
  EXPECT_EQ(held.at("application"), "nightly");
  EXPECT_EQ(held.at("command"), "sh") << "no arguments: they may be secrets";
  EXPECT_THAT(rowlock({"list"}).out, HasSubstr(" " + user + "@"));
  EXPECT_THAT(rowlock({"list"}).out, HasSubstr(" nightly: sh "));
  EXPECT_THAT(rowlock({"show", "job"}).out, testing::ContainsRegex("  user +" + user + "\n  command +sh\n"));
  EXPECT_THAT(rowlock({"run", "job", "--no-wait", "--", "true"}).err,
              testing::ContainsRegex("is busy; held by " + user + "@.+ nightly: sh since "));
  const auto waiting = json_of({"queue", "job"}).at(0);
  EXPECT_EQ(waiting.at("user"), user);
  EXPECT_EQ(waiting.at("command"), "echo mine");
  EXPECT_THAT(rowlock({"queue", "job"}).out, HasSubstr(" echo mine "));
  for (const words& line : std::vector<words>{{"list", "--json"}, {"show", "job", "--json"}, {"list"}})
    EXPECT_THAT(rowlock(line).out, Not(HasSubstr("hush")));
}

TEST_P(listing_test, says_who_is_dead_or_rests) {
  EXPECT_EQ(rowlock({"run", "rests", "--min-hold", "1h", "--", "true"}).exit_code, 0);
  EXPECT_THAT(rowlock({"list"}).out, HasSubstr("(rests)"));
  EXPECT_THAT(rowlock({"show", "rests"}).out, HasSubstr("holder        (rests)\n"));
  EXPECT_EQ(json_of({"show", "rests"}).at(0).at("holders").at(0).at("state"), "rests");
  ASSERT_EQ(rowlock({"acquire", "short", "--ttl", "100ms"}).exit_code, 0);
  auto session = store->open()->connect();
  eventually("it has expired", [&] {
    const auto seen = session->show("short");
    return seen->holders.empty() || seen->holders[0].expires_in < std::chrono::milliseconds{0};
  });
  EXPECT_THAT(rowlock({"list", "short"}).out, HasSubstr("(expired)"));
  EXPECT_EQ(json_of({"show", "short"}).at(0).at("holders").at(0).at("state"), "expired");
  const auto lease = session->show("short")->holders.at(0).lease.id;
  ASSERT_EQ(session->kill({&lease, 1}, std::chrono::microseconds{0}).size(), 1U);
  EXPECT_THAT(rowlock({"list", "short"}).out, HasSubstr("(dead)"));
  EXPECT_THAT(rowlock({"show", "short"}).out, HasSubstr("(dead)"));
}

TEST_P(listing_test, tells_times_beside_durations) {
  auto holder = hold("job");
  const auto shown = rowlock({"show", "job"}).out;
  EXPECT_THAT(shown, testing::ContainsRegex("held for +[0-9.]+m?s, since 20[0-9T:-]+Z\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("expires in +[0-9.]+m?s, at 20[0-9T:-]+Z\n"));
  EXPECT_THAT(rowlock({"list"}).out, testing::ContainsRegex(" [0-9.]+m?s +20[0-9T:-]+Z +[0-9.]+m?s\n"));
  const auto held = json_of({"list"}).at(0).at("holders").at(0);
  EXPECT_THAT(held.at("held_since").get<std::string>(), MatchesRegex("20[0-9T:-]+Z"));
  EXPECT_THAT(held.at("expires_at").get<std::string>(), MatchesRegex("20[0-9T:-]+Z"));
  EXPECT_EQ(held.at("state"), "holds");
}

TEST_P(listing_test, queue_is_in_order) {
  auto holder = hold("job");
  auto first = wait_for("job");
  auto second = wait_for("job");
  const auto waiting = json_of({"queue", "job"});
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].at("pid"), first->pid());
  EXPECT_EQ(waiting[1].at("pid"), second->pid());
  EXPECT_LT(waiting[0].at("ticket").get<int>(), waiting[1].at("ticket").get<int>());
  for (const auto& waiter : waiting) {
    EXPECT_EQ(waiter.at("alive"), true);
    EXPECT_EQ(waiter.at("application"), "rowlock run");
    EXPECT_GT(waiter.at("expires_in_ms").get<long long>(), 0);
    EXPECT_THAT(waiter.at("hold_id").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
    EXPECT_NE(waiter.at("host"), "");
  }
  EXPECT_THAT(rowlock({"queue", "job"}).out,
              MatchesRegex("TICKET +USER +HOST +PID(.|\n)*\n[0-9]+(.|\n)*\n[0-9]+ (.|\n)*"));
}

TEST_P(listing_test, people_get_aligned_lines) {
  auto holder = hold("job");
  EXPECT_THAT(
      rowlock({"list"}).out,
      MatchesRegex("NAME +KIND(.|\n)*\njob +mutex +1/1 +[0-9]+ +0 +[^\n]+ rowlock run: sh +[^\n]+\n"));
  const auto shown = rowlock({"show", "job"}).out;
  EXPECT_THAT(shown, HasSubstr("name          job\n"));
  EXPECT_THAT(shown, HasSubstr("holder        "));
}

TEST_P(listing_test, names_that_mislead_are_escaped) {
  const std::string name =
      "a\xe2\x80\xae"
      "b \xc3\xbc";  // right-to-left override, then a harmless umlaut
  rowlock({"run", name, "--", "true"});
  const auto out = rowlock({"list"}).out;
  EXPECT_THAT(out, HasSubstr("a\\u{202e}b \xc3\xbc"));
  EXPECT_THAT(out, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_EQ(json_of({"list"})[0].at("name"), name);
}

TEST_P(listing_test, an_unknown_name_is_1) {
  for (const words& line :
       std::vector<words>{{"show", "none"}, {"queue", "none"}, {"release", "none", "--force"}}) {
    const auto result = rowlock(line);
    EXPECT_EQ(result.exit_code, 1) << line[0];
    EXPECT_THAT(result.err, HasSubstr("there is no lock named 'none'"));
  }
  EXPECT_EQ(rowlock({"show", "none", "--json"}).out, "[]\n");
}

// A lock's name may read like a command, or like an option.
TEST_P(listing_test, any_name_can_be_asked_for) {
  for (const std::string name : {"list", "run", "[a,b]", "' OR 1=1; --", "%_"}) {
    EXPECT_EQ(rowlock({"run", name, "--", "true"}).exit_code, 0) << name;
    EXPECT_EQ(json_of({"show", name}).at(0).at("name"), name);
  }
  EXPECT_EQ(rowlock({"show", "--", "-x"}).exit_code, 1);
}

TEST_P(listing_test, tells_who_waits_in_a_circle) {
  EXPECT_TRUE(json_of({"queue", "--cycles"}).empty());
  EXPECT_THAT(rowlock({"queue", "--cycles"}).err, HasSubstr("there is no deadlock"));
  auto session = store->open()->connect();
  session->record_database_state();  // without this the session may not grant
  const auto lease = model::lease_id::random();
  session->create_lease({lease, lease, "host", 7, "stuck", std::chrono::hours{1}});
  const model::lock_definition lock{"a"};
  session->create({&lock, 1});
  const auto held = model::hold_id::random();
  const store::acquire_item request{"a", model::lock_kind::mutex, 1, lease, held};
  ASSERT_EQ(session->acquire({&request, 1}).size(), 1U);
  const store::edit_request enter{"a", {}, [&](const store::lock_view& view) {
                                    store::lock_change change;
                                    change.row = view.row;
                                    change.row->has_queue = true;
                                    change.enqueue = {{change.row->next_ticket++, held.sibling(), lease}};
                                    return change;
                                  }};
  ASSERT_EQ(session->edit({&enter, 1}).front(), store::edit_result::committed);
  const auto cycles = json_of({"queue", "--cycles"});
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_EQ(cycles[0][0].at("waits_for"), "a");
  EXPECT_EQ(cycles[0][0].at("waiter").at("pid"), 7);
  EXPECT_THAT(rowlock({"queue", "--cycles"}).out, HasSubstr("stuck"));
  EXPECT_EQ(rowlock({"queue"}).exit_code, 64);
  EXPECT_EQ(rowlock({"queue", "a", "--cycles"}).exit_code, 64);
}

// As most commands do in `rowlock list | head -1`, whatever the database's library does to SIGPIPE.
TEST_P(listing_test, ends_quietly_when_nobody_reads_it) {
  // What fits into the buffer of standard output, and what is written before the end.
  for (const std::string buffer : {"64K", "0"}) {
    const auto result =
        command_process{
            {"bash", "-c", "exec 3> >(exec true); wait $!; exec stdbuf -o \"$1\" \"$0\" list --json >&3",
             ROWLOCK_COMMAND_PATH, buffer},
            environment()}
            .wait();
    EXPECT_EQ(result.exit_code, 128 + SIGPIPE) << buffer;
    EXPECT_EQ(result.err, "") << buffer;
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(listing_test);

}  // namespace rowlock::test
