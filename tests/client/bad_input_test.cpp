// Names that look like SQL, and locks that are stored as something else.
#include "client/client_test.hpp"
#include "client/raw_sql.hpp"
#include "support/background.hpp"

#include <atomic>
#include <future>
#include <vector>

namespace rowlock::test {
namespace {

class bad_input_test : public client_test {
 protected:
  client db = new_client();

  // Stores a lock as another kind of primitive would have made it.
  void store_with_capacity(const std::string& name, std::int64_t capacity) {
    side().create(std::vector<model::lock_definition>{{name, model::lock_kind::mutex, capacity}});
  }
  std::optional<errc> acquiring(const std::string& name) {
    return code_of([&] { std::ignore = mutex(db, name).acquire(); });
  }
  std::optional<errc> trying(const std::string& name) {
    return code_of([&] { std::ignore = mutex(db, name).try_acquire(); });
  }
};

TEST_P(bad_input_test, names_that_look_like_sql_are_names) {
  const std::vector<std::string> names{"x'; DROP TABLE rowlock_lock; --",
                                       "\"quoted\"",
                                       "it's",
                                       "back\\slash",
                                       "\\'",
                                       "\\\\",
                                       "{}",
                                       "{a,b}",
                                       "a,b",
                                       "NULL",
                                       "null",
                                       "\"\"",
                                       "''",
                                       "()",
                                       "$1",
                                       "$$",
                                       "?",
                                       ":name",
                                       "%s%n",
                                       "[1]",
                                       " leading and trailing ",
                                       "\xF0\x9F\x94\x92",
                                       "rowlock_lock"};
  std::vector<hold> holds;
  for (const auto& name : names) {
    holds.push_back(mutex(db, name).acquire());
    EXPECT_EQ(holds.back().name(), name);
    EXPECT_FALSE(mutex(db, name).try_acquire()) << name;
    const auto info = admin{db}.show(name);
    ASSERT_TRUE(info) << name;
    EXPECT_EQ(info->name, name);
    EXPECT_EQ(info->holders.front().hold_id, holds.back().id());
  }
  std::vector<std::string> stored;
  for (const auto& info : admin{db}.list()) stored.push_back(info.name);
  EXPECT_THAT(stored, testing::UnorderedElementsAreArray(names));
  for (const auto& name : names) {
    const auto waiter = waiting(db, name);
    EXPECT_EQ(admin{db}.queue(name).size(), 1U) << name;
  }
  for (auto& held : holds) EXPECT_NE(held.release(), release_result::lost) << held.name();
}

TEST_P(bad_input_test, one_batch_carries_such_names_together) {
  const std::vector<std::string> names{"a,b", "{", "}", "\"", "\\", "NULL", "'", "a b", "(", ")"};
  std::vector<attempt> attempts;
  for (const auto& name : names) attempts.emplace_back(db, name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    hold held = attempts[i].take();
    EXPECT_EQ(holder_of(names[i]), held.id().to_string());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(is_held(names[i]));
  }
}

TEST_P(bad_input_test, names_that_cannot_be_are_refused_before_anything_is_sent) {
  for (const std::string& name :
       {std::string{}, std::string(513, 'a'), std::string{"a\nb"}, std::string{"a\0b", 3},
        std::string{"\x7F"}, std::string{"\xC2\x80"}, std::string{"\xFF"}, std::string{"\xC0\xAF"},
        std::string{"\xED\xA0\x80"}, std::string{"caf\xE9"}}) {
    EXPECT_EQ(code_of([&] { mutex(db, name); }), errc::invalid_argument) << name;
    EXPECT_EQ(code_of([&] { recursive_mutex(db, name); }), errc::invalid_argument) << name;
  }
  EXPECT_EQ(db.stats().statements, 0U);
}

// The database refuses a name, as a LATIN1 database does if its encoding lacks a character. The memory store has no
// constraints.
class refused_name_test : public bad_input_test {};

TEST_P(refused_name_test, fails_no_other_request) {
  const auto table = fixture().options().prefix + "lock";
  open_raw_sql(fixture())->run(
      GetParam() == "sqlite"
          ? "CREATE TRIGGER no_bad_names BEFORE INSERT ON " + table +
                " WHEN new.name LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'a bad name'); END"
          : "ALTER TABLE " + table + " ADD CONSTRAINT no_bad_names CHECK (name NOT LIKE 'bad%')");
  // One connection for all requests, so that they share batches.
  auto settings = patient();
  settings.connections = 2;
  client shared = new_client(settings);
  const auto acquiring_there = [&](const std::string& name) -> std::optional<errc> {
    try {
      std::ignore = mutex(shared, name).acquire();
      return {};
    } catch (const error& thrown) {
      return thrown.kind();
    }
  };
  std::atomic<bool> over{false};
  std::atomic<int> refused{0};
  std::vector<std::future<void>> work;
  for (int i = 0; i < 4; ++i) {
    work.push_back(in_background([&, name = "bad" + std::to_string(i)] {
      while (!over) refused += acquiring_there(name) == errc::database ? 1 : 0;
    }));
  }
  std::vector<std::future<void>> good;
  for (int i = 0; i < 4; ++i) {
    good.push_back(in_background([&, name = "good" + std::to_string(i)] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(acquiring_there(name), std::nullopt);
    }));
  }
  for (auto& one : good) one.get();
  over = true;
  for (auto& one : work) one.get();
  EXPECT_GT(refused, 4);
}

TEST_P(bad_input_test, another_capacity_is_a_mismatch_while_free) {
  store_with_capacity("a", 5);
  EXPECT_EQ(acquiring("a"), errc::mismatch);
  EXPECT_EQ(trying("a"), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").try_acquire_for(1h); }), errc::mismatch);
  EXPECT_EQ(queued("a"), 0U);
}

TEST_P(bad_input_test, a_mismatch_says_both_definitions) {
  store_with_capacity("a", 5);
  try {
    std::ignore = mutex(db, "a").acquire();
    FAIL() << "nothing was thrown";
  } catch (const error& thrown) {
    EXPECT_THAT(thrown.what(), testing::AllOf(testing::HasSubstr("\"a\""), testing::HasSubstr("capacity 5")));
    EXPECT_FALSE(thrown.transient());
  }
}

TEST_P(bad_input_test, a_mismatch_speaks_of_what_the_user_has_said) {
  const hold held = shared_mutex(db, "a").acquire();
  try {
    std::ignore = counting_semaphore(db, "a", 4).acquire();
    FAIL() << "nothing was thrown";
  } catch (const error& thrown) {
    EXPECT_THAT(thrown.what(),
                testing::HasSubstr("stored as a shared_mutex, but was requested as a semaphore with "
                                   "4 permits"));
  }
}

TEST_P(bad_input_test, another_capacity_is_a_mismatch_while_held) {
  store_with_capacity("a", 5);
  side().record_database_state();
  const auto lease = model::lease_id::random();
  side().create_lease({lease, lease, "host", 1, "other", 1h});
  ASSERT_EQ(side()
                .acquire(std::vector<store::acquire_item>{
                    {"a", model::lock_kind::mutex, 5, lease, model::hold_id::random()}})
                .size(),
            1U);
  EXPECT_EQ(acquiring("a"), errc::mismatch);
  EXPECT_EQ(trying("a"), errc::mismatch);
}

TEST_P(bad_input_test, another_capacity_spoils_nobody_elses_batch) {
  store_with_capacity("a", 5);
  std::vector<attempt> attempts;
  for (const char* name : {"a", "b", "a", "c"}) attempts.emplace_back(db, name);
  for (const std::size_t good : {1U, 3U}) EXPECT_TRUE(attempts[good].take());
  for (const std::size_t bad : {0U, 2U})
    EXPECT_EQ(code_of([&] { std::ignore = attempts[bad].take(); }), errc::mismatch);
}

TEST_P(bad_input_test, prefixes_and_schemas_that_are_no_identifiers_are_refused) {
  for (const char* bad : {"", "A_", "1_", "a-b", "a;", "a\"", "x'; DROP TABLE a; --", "\xC3\xA4",
                          "a2345678901234567890123456789012"}) {
    auto settings = patient();
    settings.prefix = bad;
    EXPECT_EQ(code_of([&] { std::ignore = connect("sqlite:/nonexistent/locks.db", settings); }),
              errc::invalid_argument)
        << bad;
    if (*bad == '\0') continue;
    settings = patient();
    settings.schema = bad;
    EXPECT_EQ(code_of([&] { std::ignore = connect("postgresql:///", settings); }), errc::invalid_argument)
        << bad;
  }
}

TEST_P(bad_input_test, absurd_waits_are_very_long_or_none) {
  mutex a{db, "a"};
  EXPECT_TRUE(a.try_acquire_for(std::chrono::hours{24 * 3654}));
  EXPECT_TRUE(a.try_acquire_for(std::chrono::nanoseconds::max()));
  const auto held = a.try_acquire_for(std::chrono::nanoseconds::min());
  EXPECT_TRUE(held) << "a time in the past means now";
  EXPECT_FALSE(a.try_acquire_for(-1h));
}

ROWLOCK_FOR_EACH_STORE(bad_input_test);

class stored_kind_test : public bad_input_test {};

TEST_P(stored_kind_test, another_kind_is_a_mismatch) {
  const auto sql = open_raw_sql(fixture());
  const auto lock = fixture().options().prefix + "lock";
  mutex(db, "a").acquire().release();
  sql->run("UPDATE " + lock + " SET kind = 'semaphore' WHERE name = 'a'");
  EXPECT_EQ(acquiring("a"), errc::mismatch);
  EXPECT_EQ(trying("a"), errc::mismatch);
}

TEST_P(stored_kind_test, another_kind_spoils_nobody_elses_batch) {
  const auto sql = open_raw_sql(fixture());
  const auto lock = fixture().options().prefix + "lock";
  mutex(db, "a").acquire().release();
  sql->run("UPDATE " + lock + " SET kind = 'semaphore' WHERE name = 'a'");
  const hold held = mutex(db, "b").acquire();
  auto bad = attempt{db, "a"};
  auto good = attempt{db, "c"};
  EXPECT_TRUE(good.take());
  EXPECT_EQ(code_of([&] { std::ignore = bad.take(); }), errc::mismatch);
  EXPECT_TRUE(held);
}

INSTANTIATE_TEST_SUITE_P(stores, refused_name_test,
                         testing::ValuesIn(selected_of({"sqlite", "postgres", "mariadb", "mysql"})),
                         store_test_name);

INSTANTIATE_TEST_SUITE_P(stores, stored_kind_test,
                         testing::ValuesIn(selected_of({"sqlite", "postgres", "mariadb", "mysql"})),
                         store_test_name);

}  // namespace
}  // namespace rowlock::test
