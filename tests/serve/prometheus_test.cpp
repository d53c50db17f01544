// rowlock/prometheus.hpp, as a program with a registry of its own uses it.
#include <rowlock/prometheus.hpp>

#include "support/store_fixture.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace rowlock::test {
namespace {

using ::prometheus::MetricType;

std::map<std::string, ::prometheus::MetricFamily> families_of(const client& db) {
  const prometheus_statistics seen{db, {{"pool", "billing"}}};
  std::map<std::string, ::prometheus::MetricFamily> found;
  for (auto& family : seen.Collect()) {
    for (const auto& metric : family.metric) EXPECT_EQ(metric.label.at(0).value, "billing") << family.name;
    found[family.name] = family;
  }
  return found;
}

}  // namespace

TEST(prometheus_statistics, shows_a_clients_counters) {
  const auto fixture = make_store_fixture("sqlite");
  const auto db = connect(fixture->url());
  mutex{db, "job"}.acquire().release();
  const auto families = families_of(db);
  EXPECT_EQ(families.size(), 14U);
  EXPECT_EQ(families.at("rowlock_client_acquired_total").type, MetricType::Counter);
  EXPECT_EQ(families.at("rowlock_client_acquired_total").metric.at(0).counter.value, 1);
  EXPECT_GT(families.at("rowlock_client_statements_total").metric.at(0).counter.value, 0);
}

TEST(prometheus_statistics, shows_losses_by_their_reason) {
  const auto fixture = make_store_fixture("sqlite");
  auto db = connect(fixture->url());
  const hold held = mutex{db, "job"}.acquire();
  db.close();
  std::map<std::string, double> lost;
  const auto families = families_of(db);
  for (const auto& metric : families.at("rowlock_client_lost_total").metric) {
    EXPECT_EQ(metric.label.at(1).name, "reason");
    lost[metric.label.at(1).value] = metric.counter.value;
  }
  EXPECT_EQ(lost, (std::map<std::string, double>{
                      {"none", 0}, {"expired", 0}, {"forced", 0}, {"gone", 0}, {"closed", 1}}));
}

TEST(prometheus_statistics, shows_how_long_holds_were_waited_for_and_held) {
  const auto fixture = make_store_fixture("sqlite");
  const auto db = connect(fixture->url());
  for (int i = 0; i < 3; ++i) mutex{db, "job"}.acquire().release();
  const auto families = families_of(db);
  const auto stats = db.stats();
  for (const auto& [name, sum] : {std::pair{"rowlock_client_wait_seconds", stats.waited.sum},
                                  std::pair{"rowlock_client_hold_seconds", stats.held.sum}}) {
    SCOPED_TRACE(name);
    const auto& family = families.at(name);
    EXPECT_EQ(family.type, MetricType::Histogram);
    const auto& shown = family.metric.at(0).histogram;
    EXPECT_EQ(shown.sample_count, 3U);
    EXPECT_DOUBLE_EQ(shown.sample_sum, std::chrono::duration<double>{sum}.count());
    ASSERT_EQ(shown.bucket.size(), 16U);
    EXPECT_DOUBLE_EQ(shown.bucket.front().upper_bound, 0.001);
    EXPECT_DOUBLE_EQ(shown.bucket[14].upper_bound, 4 * 3600);
    EXPECT_TRUE(std::isinf(shown.bucket.back().upper_bound));
    EXPECT_EQ(shown.bucket.back().cumulative_count, 3U);
    for (std::size_t i = 1; i < shown.bucket.size(); ++i) {
      EXPECT_GE(shown.bucket[i].cumulative_count, shown.bucket[i - 1].cumulative_count) << "cumulative";
    }
  }
}

}  // namespace rowlock::test
