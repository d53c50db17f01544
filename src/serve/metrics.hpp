// /metrics: what Prometheus reads.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/database.hpp"
#include "serve/lock_snapshot.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::serve {

using metric_families = std::vector<prometheus::MetricFamily>;

prometheus::MetricFamily gauge(const std::string& name, const std::string& help, double value);
prometheus::MetricFamily counter(const std::string& name, const std::string& help, double value);

// Counts what the service does, and puts the text together. Any thread may call it.
class metrics {
 public:
  metrics();

  void observe_call(const char* call, std::chrono::nanoseconds lasted, const error* failed);
  void count_response(unsigned status);
  // Adds a function that is called for each text; it must neither wait nor throw. Call add_source() before the server
  // starts.
  void add_source(std::function<metric_families()> source) { sources_.push_back(std::move(source)); }

  std::string text() const;

 private:
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Histogram>& calls_;
  prometheus::Family<prometheus::Counter>& errors_;
  prometheus::Family<prometheus::Counter>& responses_;
  std::vector<std::function<metric_families()>> sources_;
};

// A thread that reads the locks once in each interval. A scrape gets what was read last, so scrapes cost the database
// nothing, however many there are.
class lock_metrics {
 public:
  lock_metrics(database& db, std::chrono::milliseconds every, std::vector<std::string> patterns);

  // If the latest snapshot is older than three intervals, or six times as long as its reading took if that is more, the
  // result says only that the database is not up.
  metric_families families() const;
  void stop() { thread_.request_stop(); }

 private:
  using clock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);

  database& db_;
  const std::chrono::milliseconds every_;
  lock_snapshot_reader reader_;
  mutable model::annotated_mutex mutex_;
  std::optional<lock_snapshot> latest_ ROWLOCK_GUARDED_BY(mutex_);
  clock::time_point read_at_ ROWLOCK_GUARDED_BY(mutex_);
  clock::duration valid_for_ ROWLOCK_GUARDED_BY(mutex_){};
  bool is_up_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // the last member, because the thread uses the others
};

}  // namespace rowlock::serve
