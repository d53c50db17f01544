// When the database rolls back a statement because of another transaction, the client sends it again, and the caller
// does not notice.
#include "client/client_test.hpp"
#include "client/raw_sql.hpp"

namespace rowlock::test {
namespace {

// Triggers on rowlock's tables simulate the conflicts. So no second transaction is needed, and a conflict comes when
// the test wants it.
class conflict_test : public client_test {
 protected:
  void SetUp() override {
    if (is_postgres()) {
      // A rollback of the statement does not set a sequence back.
      run("CREATE SEQUENCE @tries");
      run("CREATE TABLE @conflicts (error text NOT NULL, until bigint NOT NULL)");
      run("INSERT INTO @conflicts VALUES ('', 0)");
      run("CREATE FUNCTION @conflict() RETURNS trigger LANGUAGE plpgsql AS $$ "
          "DECLARE made_up @conflicts; "
          "BEGIN "
          "  SELECT * INTO made_up FROM @conflicts; "
          "  IF nextval('@tries') <= made_up.until THEN "
          "    RAISE EXCEPTION 'made up' USING ERRCODE = made_up.error; "
          "  END IF; "
          "  RETURN NEW; "
          "END $$");
    } else {
      // A rollback does not set the number of the next row back either.
      run("CREATE TABLE @tries (number BIGINT AUTO_INCREMENT PRIMARY KEY)");
      run("CREATE TABLE @conflicts (error INTEGER NOT NULL, until BIGINT NOT NULL)");
      run("INSERT INTO @conflicts VALUES (0, 0)");
    }
    for (const std::string table : {"lease", "lock", "queue"}) {
      for (const std::string change : {"INSERT", "UPDATE"}) {
        run("CREATE TRIGGER @before_" + change + '_' + table + " BEFORE " + change + " ON @" + table +
            " FOR EACH ROW " +
            (is_postgres() ? "EXECUTE FUNCTION @conflict()"
                           : "BEGIN DECLARE number INTEGER; "
                             "SELECT error INTO number FROM @conflicts; "
                             "INSERT INTO @tries VALUES (NULL); "
                             "IF LAST_INSERT_ID() <= (SELECT until FROM @conflicts) THEN "
                             "SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = 'made up', MYSQL_ERRNO = number; "
                             "END IF; END"));
      }
    }
  }
  void TearDown() override {
    // Everything else is dropped with the tables.
    if (is_postgres()) run("DROP SEQUENCE @tries");
  }

  std::vector<std::string> errors() const {
    if (is_postgres()) return {"40001", "40P01"};
    return {"1205", "1213", "1020"};
  }
  // Refuses the next `times` changes of a row.
  void refuse(const std::string& error, int times) {
    const auto count = std::to_string(times);
    if (is_postgres()) {
      run("UPDATE @conflicts SET error = '" + error + "', until = (SELECT last_value FROM @tries) + " +
          count);
    } else {
      run("INSERT INTO @tries VALUES (NULL)");
      run("UPDATE @conflicts SET error = " + error + ", until = LAST_INSERT_ID() + " + count);
    }
  }
  bool were_refused() {
    return app->value(put(is_postgres()
                              ? "SELECT last_value > until FROM @tries, @conflicts"
                              : "SELECT (SELECT MAX(number) FROM @tries) > until FROM @conflicts")) ==
           (is_postgres() ? "t" : "1");
  }

 private:
  bool is_postgres() const { return GetParam() == "postgres"; }
  // @ stands for the prefix.
  std::string put(std::string sql) {
    for (auto at = sql.find('@'); at != std::string::npos; at = sql.find('@')) {
      sql.replace(at, 1, fixture().options().prefix);
    }
    return sql;
  }
  void run(const std::string& sql) { app->run(put(sql)); }

  std::unique_ptr<raw_sql> app = open_raw_sql(fixture());
};

TEST_P(conflict_test, is_retried_and_nobody_hears_of_it) {
  constexpr int times = 3;
  for (const auto& error : errors()) {
    SCOPED_TRACE(error);
    const client db = new_client(quick_to_renew());
    refuse(error, times);
    auto held = std::make_optional(mutex(db, error).acquire());
    EXPECT_TRUE(were_refused()) << "acquire";
    const auto renewals = db.stats().renewals;
    refuse(error, times);
    EXPECT_TRUE(eventually([&] { return were_refused() && db.stats().renewals > renewals; }));
    EXPECT_TRUE(*held);
    refuse(error, times);
    auto waiter = waiting(db, error);
    EXPECT_TRUE(were_refused()) << "wait";
    refuse(error, times);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_EQ(waiter.take().id().to_string(), holder_of(error));
    EXPECT_TRUE(were_refused()) << "release";
  }
}

INSTANTIATE_TEST_SUITE_P(stores, conflict_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(conflict_test);

}  // namespace
}  // namespace rowlock::test
