// `rowlock guard` prints the SQL that proves a hold, and the hold that it proves is that of ROWLOCK_HOLD.
#include "cli/cli_test.hpp"

#include <rowlock/rowlock.hpp>

#include <csignal>

namespace rowlock::test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class guard_command_test : public cli_test {
 protected:
  std::string dialect() const { return has_mysql_dialect(GetParam()) ? "mysql" : GetParam(); }
};

TEST_P(guard_command_test, prints_what_the_hold_itself_says) {
  auto settings = options{};
  settings.prefix = store->options().prefix;
  const client db = connect(store->url(), settings);
  for (const std::string name : {"billing/nightly", "it's \\ 100 % \"größer\""}) {
    for (const bool is_shared : {false, true}) {
      const auto held =
          is_shared ? shared_mutex(db, name + " s").acquire_shared() : mutex(db, name).acquire();
      const auto said = held.guard_statement();
      words line{"guard",     held.name(), "--hold",        held.id().to_string(),
                 "--dialect", dialect(),   "--placeholders"};
      line.emplace_back(GetParam() == "postgres" ? "dollar" : "question");
      if (is_shared) line.emplace_back("--shared");
      const auto printed = rowlock(line);
      EXPECT_EQ(printed.exit_code, 0) << printed.err;
      EXPECT_EQ(printed.out, said.sql + '\n');
      EXPECT_EQ(said.parameters, (std::vector<std::string>{held.name(), held.id().to_string()}));
    }
  }
}

TEST_P(guard_command_test, tells_the_command_its_hold) {
  const auto result = rowlock({"run", "job", "--", "sh", "-c",
                               "echo $ROWLOCK_HOLD; " ROWLOCK_COMMAND_PATH " guard --dialect " + dialect()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto hold = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(hold.size(), 32U);
  EXPECT_THAT(result.out, AllOf(HasSubstr("'job'"), HasSubstr('\'' + hold + '\'')));
}

TEST_P(guard_command_test, prints_placeholders_in_the_style_of_the_driver) {
  const words begin{"guard", "job", "--hold", std::string(32, 'a'), "--placeholders"};
  const auto print = [&](const std::string& style) {
    auto line = begin;
    line.push_back(style);
    return rowlock(line).out;  // the dialect is that of the URL
  };
  EXPECT_THAT(print("named"), AllOf(HasSubstr(":name"), HasSubstr(":hold"), Not(HasSubstr("job"))));
  EXPECT_THAT(print("percent"), AllOf(HasSubstr("%(name)s"), HasSubstr("%(hold)s")));
  EXPECT_THAT(print("dollar"), AllOf(HasSubstr("$1"), HasSubstr("$2"), Not(HasSubstr("?"))));
  EXPECT_THAT(print("question"), AllOf(HasSubstr("?"), Not(HasSubstr("$"))));
}

TEST_P(guard_command_test, writes_unusual_names_in_a_form_that_no_setting_changes) {
  const auto result = rowlock({"guard", "it's \\ größer", "--hold", std::string(32, 'a')});
  EXPECT_THAT(result.out, AllOf(HasSubstr("6974277320"), Not(HasSubstr("größer"))));
}

TEST_P(guard_command_test, prints_json) {
  const auto plain = json_of({"guard", "job", "--hold", std::string(32, 'a')}).at(0);
  EXPECT_FALSE(plain.contains("parameters"));
  EXPECT_EQ(plain.at("write"), "");
  const auto with =
      json_of({"guard", "job", "--hold", std::string(32, 'a'), "--placeholders", "named"}).at(0);
  EXPECT_EQ(with.at("parameters"), (nlohmann::json{"job", std::string(32, 'a')}));
}

TEST_P(guard_command_test, of_a_cluster_prints_two_statements) {
  const auto result = rowlock({"guard", "job", "--hold", std::string(32, 'a'), "--cluster"});
  if (dialect() == "mysql") {
    EXPECT_THAT(result.out, AllOf(HasSubstr(";\nUPDATE "), HasSubstr("guards = guards + 1")));
  } else {
    EXPECT_THAT(result.out, Not(HasSubstr("guards")));
  }
}

TEST_P(guard_command_test, says_what_is_missing) {
  const auto nameless = rowlock({"guard"});
  EXPECT_EQ(nameless.exit_code, 64);
  EXPECT_THAT(nameless.err,
              HasSubstr("NAME is missing; the command of rowlock run finds it in ROWLOCK_NAME"));
  const auto holdless = rowlock({"guard", "job"});
  EXPECT_EQ(holdless.exit_code, 64);
  EXPECT_THAT(holdless.err, HasSubstr("--hold is missing"));
  EXPECT_EQ(rowlock({"guard", "job", "--hold", "abc"}).exit_code, 64);
  const auto of_a_rest = rowlock({"guard", "job", "--hold", std::string(32, '0')});
  EXPECT_EQ(of_a_rest.exit_code, 64);
  EXPECT_THAT(of_a_rest.err, HasSubstr("an id of zeros is that of a lock that rests"));
  const auto unknown = rowlock({"guard", "job", "--hold", std::string(32, 'a'), "--dialect", "oracle"});
  EXPECT_EQ(unknown.exit_code, 64);
  EXPECT_THAT(unknown.err, HasSubstr("'oracle' is not a dialect"));
}

ROWLOCK_FOR_EACH_SQL_STORE(guard_command_test);

// A program in Python uses the guard with the driver of its language, while the process that has the lock is dead: only
// the guard keeps the others out (I1), and it finds the hold no longer when somebody else has the lock.
class guard_in_python_test : public guard_command_test {
 protected:
  std::unique_ptr<command_process> start_guarded(const std::string& hold, const words& options) {
    auto variables = environment();
    variables["ROWLOCK_NAME"] = "job";
    variables["ROWLOCK_HOLD"] = hold;
    words line{"-B", ROWLOCK_SOURCE_DIR "/tests/cli/guarded.py", ROWLOCK_COMMAND_PATH, store->url()};
    line.insert(line.end(), options.begin(), options.end());
    return start_program("/usr/bin/python3", line, variables);
  }
  // A hold of `rowlock run` with these options excludes another one with those.
  void expect_guarded(const words& options, const words& others, const words& of_guard) {
    const auto run = [](const words& chosen, const words& rest) {
      words line{"run", "job"};
      line.insert(line.end(), chosen.begin(), chosen.end());
      line.insert(line.end(), rest.begin(), rest.end());
      return line;
    };
    auto holder = start(run(options, {"--", "sh", "-c", "echo $ROWLOCK_HOLD; cat >/dev/null"}));
    const auto hold = holder->read_line();
    const auto lease = store->open()->connect()->show("job")->holders.at(0).lease.id;
    auto guarded = start_guarded(hold, of_guard);
    EXPECT_EQ(guarded->read_line(), "held");
    holder->send(SIGKILL);
    holder->wait();
    // In SQLite, nobody else can write before the transaction ends.
    if (GetParam() != "sqlite") store->expire(lease);
    EXPECT_NE(rowlock(run(others, {"--wait", "2s", "--", "true"})).exit_code, 0);
    guarded->close_input();
    EXPECT_EQ(guarded->read_line(), "committed");
    EXPECT_EQ(guarded->wait().exit_code, 0);
    store->expire(lease);
    EXPECT_EQ(rowlock(run(others, {"--wait", "20s", "--", "true"})).exit_code, 0);
    EXPECT_EQ(start_guarded(hold, of_guard)->wait().out, "refused\n");
  }
};

TEST_P(guard_in_python_test, keeps_the_lock_until_its_transaction_ends) {
  expect_guarded({}, {}, {});
}

TEST_P(guard_in_python_test, of_a_shared_hold_keeps_writers_out) {
  expect_guarded({"--shared"}, {"--exclusive"}, {"--shared"});
}

TEST_P(guard_in_python_test, of_a_counted_hold_keeps_its_permits) {
  expect_guarded({"--permits", "2", "--capacity", "3"}, {"--permits", "2", "--capacity", "3"}, {"--shared"});
}

ROWLOCK_FOR_EACH_SQL_STORE(guard_in_python_test);

}  // namespace rowlock::test
