// rowlock/prometheus.hpp, as a program with a registry of its own uses it.
#include <rowlock/prometheus.hpp>

#include "support/store_fixture.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace rowlock::test {

TEST(prometheus_statistics, shows_a_clients_statistics) {
  const auto fixture = make_store_fixture("sqlite");
  const auto db = connect(fixture->url());
  mutex{db, "job"}.acquire().release();
  const prometheus_statistics seen{db, {{"pool", "billing"}}};
  std::map<std::string, double> values;
  for (const auto& family : seen.Collect()) {
    EXPECT_EQ(family.type, ::prometheus::MetricType::Counter);
    EXPECT_EQ(family.metric.at(0).label.at(0).value, "billing");
    values[family.name] = family.metric.at(0).counter.value;
  }
  EXPECT_EQ(values.size(), 9U);
  EXPECT_EQ(values.at("rowlock_client_acquired_total"), 1);
  EXPECT_GT(values.at("rowlock_client_statements_total"), 0);
}

}  // namespace rowlock::test
