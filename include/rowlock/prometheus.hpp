// Shows what a client has done (client::stats) to Prometheus, through the registry of prometheus-cpp. This header needs
// the headers of prometheus-cpp's core library (Debian: prometheus-cpp-dev); a program that includes it links that
// library. rowlock itself does not.
//
//   auto seen = std::make_shared<rowlock::prometheus_statistics>(
//       db, std::map<std::string, std::string>{{"pool", "billing"}});
//   exposer.RegisterCollectable(seen);
//
// The exposer (prometheus/exposer.h) is in prometheus-cpp's pull library, which such a program links, too. The exposer
// does not keep `seen` alive.
//
// The metrics are counters, and the last two histograms; docs/serve.md lists those of `rowlock serve`, which has these,
// too. The label `reason` of the losses is to_string(hold::loss()):
//   rowlock_client_acquired_total       rowlock_client_renewals_total       rowlock_client_release_requests_total
//   rowlock_client_released_total       rowlock_client_late_renewals_total  rowlock_client_hand_overs_total
//   rowlock_client_busy_total           rowlock_client_reconnects_total     rowlock_client_events_left_out_total
//   rowlock_client_waits_total          rowlock_client_statements_total
//   rowlock_client_lost_total           rowlock_client_wait_seconds         rowlock_client_hold_seconds
#pragma once

#include <rowlock/client.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
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
            losses(now),
            counter("release_requests", "Holds whose release was requested", now.release_requests),
            counter("hand_overs", "Releases that granted the lock to a waiter", now.hand_overs),
            counter("renewals", "Renewals of the lease that were confirmed", now.renewals),
            counter("late_renewals", "Renewals sent later than half of the ttl", now.late_renewals),
            counter("reconnects", "Connections that were made again", now.reconnects),
            counter("statements", "Requests to the database", now.statements),
            counter("events_left_out", "Events that options::on_event was too slow for", now.events_left_out),
            histogram("wait_seconds", "From the call of an acquire to the grant", now.waited),
            histogram("hold_seconds", "From the grant of a hold to its end", now.held)};
  }

 private:
  static ::prometheus::MetricFamily family(const std::string& name, const char* help,
                                           ::prometheus::MetricType type) {
    ::prometheus::MetricFamily empty;
    empty.name = "rowlock_client_" + name;
    empty.help = help;
    empty.type = type;
    return empty;
  }

  ::prometheus::ClientMetric metric() const {
    ::prometheus::ClientMetric labelled;
    for (const auto& [label, text] : labels_) labelled.label.push_back({label, text});
    return labelled;
  }

  ::prometheus::ClientMetric counted(std::uint64_t value) const {
    auto one = metric();
    one.counter.value = static_cast<double>(value);
    return one;
  }

  ::prometheus::MetricFamily counter(const std::string& name, const char* help, std::uint64_t value) const {
    auto made = family(name + "_total", help, ::prometheus::MetricType::Counter);
    made.metric.push_back(counted(value));
    return made;
  }

  ::prometheus::MetricFamily losses(const statistics& now) const {
    auto made =
        family("lost_total", "Holds that were lost before their release", ::prometheus::MetricType::Counter);
    const auto add = [&](loss reason, std::uint64_t value) {
      made.metric.push_back(counted(value));
      made.metric.back().label.push_back({"reason", to_string(reason)});
    };
    // A loss of which only a release learned has no reason: the database says that the hold is gone, but not why.
    add(loss::none, now.lost - now.lost_expired - now.lost_forced - now.lost_gone - now.lost_closed);
    add(loss::expired, now.lost_expired);
    add(loss::forced, now.lost_forced);
    add(loss::gone, now.lost_gone);
    add(loss::closed, now.lost_closed);
    return made;
  }

  ::prometheus::MetricFamily histogram(const std::string& name, const char* help,
                                       const duration_histogram& lengths) const {
    using seconds = std::chrono::duration<double>;
    auto one = metric();
    auto& shown = one.histogram;
    for (std::size_t i = 0; i < lengths.buckets.size(); ++i) {
      const bool has_bound = i < duration_histogram::bounds.size();
      shown.sample_count += lengths.buckets[i];
      shown.bucket.push_back({shown.sample_count, has_bound ? seconds{duration_histogram::bounds[i]}.count()
                                                            : std::numeric_limits<double>::infinity()});
    }
    shown.sample_sum = seconds{lengths.sum}.count();
    auto made = family(name, help, ::prometheus::MetricType::Histogram);
    made.metric.push_back(std::move(one));
    return made;
  }

  client db_;
  std::map<std::string, std::string> labels_;
};

ROWLOCK_END_NAMESPACE
