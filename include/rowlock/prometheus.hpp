// Shows what a client has done (client::stats) to Prometheus, through the registry of prometheus-cpp. This header needs
// the headers of prometheus-cpp's core library (Debian: prometheus-cpp-dev); a program that includes it links that
// library. rowlock itself does not.
//
//   auto seen = std::make_shared<rowlock::prometheus_statistics>(
//       db, std::map<std::string, std::string>{{"pool", "billing"}});
//   exposer.RegisterCollectable(seen);
//
// The exposer (prometheus/exposer.h) is in prometheus-cpp's pull library, which such a program links, too. It does not
// keep `seen` alive.
//
// The metrics are counters; docs/serve.md lists those of `rowlock serve`, which has these, too:
//   rowlock_client_acquired_total       rowlock_client_lost_total           rowlock_client_reconnects_total
//   rowlock_client_released_total       rowlock_client_renewals_total       rowlock_client_statements_total
//   rowlock_client_busy_total           rowlock_client_late_renewals_total  rowlock_client_waits_total
#pragma once

#include <rowlock/client.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// Keeps the client open until it is destroyed, as a copy of the client would. Thread safety: any thread may call
// Collect() at any time; it neither waits nor uses the database.
class prometheus_statistics : public ::prometheus::Collectable {
 public:
  // labels: added to every metric, for a program with several clients.
  explicit prometheus_statistics(client db, std::map<std::string, std::string> labels = {})
      : db_(std::move(db)), labels_(std::move(labels)) {}

  std::vector<::prometheus::MetricFamily> Collect() const override {
    const statistics now = db_.stats();
    return {counter("acquired", "Holds that were granted", now.acquired),
            counter("released", "Holds that were released", now.released),
            counter("busy", "Attempts that found the lock busy, or gave up", now.busy),
            counter("waits", "Acquires that entered the queue", now.waits),
            counter("lost", "Holds that were lost before their release", now.lost),
            counter("renewals", "Renewals of the lease that were confirmed", now.renewals),
            counter("late_renewals", "Renewals sent later than half of the ttl", now.late_renewals),
            counter("reconnects", "Connections that were made again", now.reconnects),
            counter("statements", "Requests to the database", now.statements)};
  }

 private:
  ::prometheus::MetricFamily counter(const char* name, const char* help, std::uint64_t value) const {
    ::prometheus::ClientMetric metric;
    for (const auto& [label, text] : labels_) metric.label.push_back({label, text});
    metric.counter.value = static_cast<double>(value);
    ::prometheus::MetricFamily family;
    family.name = std::string("rowlock_client_") + name + "_total";
    family.help = help;
    family.type = ::prometheus::MetricType::Counter;
    family.metric.push_back(std::move(metric));
    return family;
  }

  client db_;
  std::map<std::string, std::string> labels_;
};

ROWLOCK_END_NAMESPACE
