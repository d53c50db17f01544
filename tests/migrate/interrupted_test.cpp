#ifdef ROWLOCK_TEST_MYSQL

#include "migrate/migrate_test.hpp"
#include "store/mysql/mysql_script.hpp"

#include <rowlock/client.hpp>

namespace rowlock::test {

using testing::IsEmpty;

// Where each DDL commits by itself a migrator that is killed leaves a part of its file behind.
class interrupted_test : public migrate_test {
 protected:
  // All files one after the other, in the order in which they are run.
  static std::string all_up() {
    std::string text;
    for (const auto& file : shipped_migrations(GetParam())) text += file.up;
    return text;
  }
  static std::string all_down() {
    std::string text;
    for (const auto& file : shipped_migrations(GetParam())) text = file.down + text;
    return text;
  }
  // Each part that may be left: none of the statements, the first, the first two…
  static std::vector<std::string> parts(const std::string& file) {
    std::vector<std::string> result{""};
    for (const auto& statement : store::split_statements(file)) {
      result.push_back(result.back() + statement + ";\n");
    }
    return result;
  }
};

TEST_P(interrupted_test, on_the_way_up_is_run_again) {
  for (const auto& part : parts(all_up())) {
    SCOPED_TRACE(part);
    const blank_database own{GetParam()};
    own.run(part);
    migrator again{own.url(), own.settings()};
    again.up();
    EXPECT_THAT(again.verify(), IsEmpty());
    EXPECT_NO_THROW(connect(own.url(), own.settings()));
  }
}

TEST_P(interrupted_test, on_the_way_down_is_run_again) {
  for (const auto& part : parts(all_down())) {
    SCOPED_TRACE(part);
    const blank_database own{GetParam()};
    migrator{own.url(), own.settings()}.up();
    own.run(part);
    migrator again{own.url(), own.settings()};
    again.down(0, true);
    EXPECT_THAT(own.describe(), IsEmpty());
    again.up();
    EXPECT_THAT(again.verify(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(stores, interrupted_test, testing::ValuesIn(selected_of({"mysql"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(interrupted_test);

}  // namespace rowlock::test

#endif
