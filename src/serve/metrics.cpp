#include "serve/metrics.hpp"

#include "serve/pause.hpp"

#include <rowlock/migrate.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

namespace rowlock::serve {

namespace {

using seconds = std::chrono::duration<double>;

prometheus::MetricFamily family_of(prometheus::MetricType type, const std::string& name,
                                   const std::string& help) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

void add_value(prometheus::MetricFamily& family, const std::string& lock, double value) {
  prometheus::ClientMetric metric;
  metric.label.push_back({"name", lock});
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

void add_locks(const lock_snapshot& seen, metric_families& to) {
  const auto add = [&](const char* name, const char* help, auto value) {
    to.push_back(gauge(name, help, static_cast<double>(value)));
  };
  add("rowlock_locks", "Names that the database has", seen.locks);
  add("rowlock_locks_held",
      "Names in use: held, held by the dead, at rest, and latches and barriers that have arrivals",
      seen.held);
  add("rowlock_waiters", "Requests that wait for a lock, without candidates of elections", seen.waiters);
  add("rowlock_oldest_waiter_seconds", "For how long this process has seen the oldest waiter in its queue",
      seconds{seen.oldest_waiter}.count());
  add("rowlock_expired_leases", "Leases of holders that have expired and were not killed yet",
      seen.expired_leases);
  add("rowlock_epoch", "The epoch of the tokens", seen.epoch);
  add("rowlock_schema_version", "The version of the schema", seen.schema_version);
  add("rowlock_schema_version_required", "The version of the schema that this process needs",
      required_schema_version());
  add("rowlock_serve_locks_cut", "1: there are 100000 names or more, and those beyond are not counted",
      seen.is_cut ? 1 : 0);
  add("rowlock_serve_names_cut",
      "Names that match --metrics-names and have no metrics, because there are too many", seen.chosen_cut);
}

void add_chosen(const lock_snapshot& seen, metric_families& to) {
  if (seen.chosen.empty()) return;
  using prometheus::MetricType;
  auto held =
      family_of(MetricType::Gauge, "rowlock_lock_in_use", "How much of the lock's capacity is in use");
  auto waiters = family_of(MetricType::Gauge, "rowlock_lock_waiters", "Requests that wait for the lock");
  auto oldest = family_of(MetricType::Gauge, "rowlock_lock_oldest_waiter_seconds",
                          "For how long this process has seen the lock's oldest waiter in the queue");
  for (const auto& one : seen.chosen) {
    add_value(held, one.name, static_cast<double>(one.in_use));
    add_value(waiters, one.name, static_cast<double>(one.waiters));
    add_value(oldest, one.name, seconds{one.oldest_waiter}.count());
  }
  for (auto* family : {&held, &waiters, &oldest}) to.push_back(std::move(*family));
}

const prometheus::Histogram::BucketBoundaries& call_seconds() {
  static const prometheus::Histogram::BucketBoundaries all{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                           0.25,  0.5,    1,     2.5,  5,     10};
  return all;
}

}  // namespace

prometheus::MetricFamily gauge(const std::string& name, const std::string& help, double value) {
  auto family = family_of(prometheus::MetricType::Gauge, name, help);
  family.metric.emplace_back().gauge.value = value;
  return family;
}

prometheus::MetricFamily counter(const std::string& name, const std::string& help, double value) {
  auto family = family_of(prometheus::MetricType::Counter, name, help);
  family.metric.emplace_back().counter.value = value;
  return family;
}

metrics::metrics()
    : calls_{prometheus::BuildHistogram()
                 .Name("rowlock_serve_call_seconds")
                 .Help("How long this process's calls to the database took")
                 .Register(registry_)},
      errors_{prometheus::BuildCounter()
                  .Name("rowlock_serve_errors_total")
                  .Help("Calls to the database that failed, by the code of the error")
                  .Register(registry_)},
      responses_{prometheus::BuildCounter()
                     .Name("rowlock_serve_responses_total")
                     .Help("HTTP responses, by their status")
                     .Register(registry_)} {}

void metrics::observe_call(const char* call, std::chrono::nanoseconds lasted, const error* failed) {
  calls_.Add({{"call", call}}, call_seconds()).Observe(seconds{lasted}.count());
  if (failed != nullptr) errors_.Add({{"code", to_string(failed->kind())}}).Increment();
}

void metrics::count_response(unsigned status) {
  responses_.Add({{"status", std::to_string(status)}}).Increment();
}

std::string metrics::text() const {
  auto all = registry_.Collect();
  for (const auto& source : sources_) {
    for (auto& family : source()) all.push_back(std::move(family));
  }
  return prometheus::TextSerializer{}.Serialize(all);
}

lock_metrics::lock_metrics(database& db, std::chrono::milliseconds every, std::vector<std::string> patterns)
    : db_{db}, every_{every}, reader_{std::move(patterns)} {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void lock_metrics::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto began = clock::now();
    std::optional<lock_snapshot> found;
    try {
      found = reader_.read(db_);
    } catch (const std::exception&) {
      // The metrics say that the database is not up, and the observer has counted the error.
    }
    {
      const model::annotated_lock lock{mutex_};
      is_up_ = found.has_value();
      if (found) {
        latest_ = std::move(found);
        read_at_ = clock::now();
        valid_for_ = 3 * std::max<clock::duration>(every_, 2 * (read_at_ - began));
      }
    }
    // A database that is slow is not read without a pause.
    const auto now = clock::now();
    pause_until(std::max(began + every_, now + (now - began)), stop);
  }
}

metric_families lock_metrics::families() const {
  const model::annotated_lock lock{mutex_};
  const auto age = clock::now() - read_at_;
  const bool is_fresh = latest_ && age < valid_for_;
  metric_families all;
  all.push_back(gauge("rowlock_up",
                      "1: the latest reading has succeeded. 0: it has failed, or none has ended yet",
                      is_up_ && is_fresh ? 1 : 0));
  if (!is_fresh) return all;
  all.push_back(gauge("rowlock_serve_snapshot_age_seconds", "How old the figures about locks are",
                      seconds{age}.count()));
  add_locks(*latest_, all);
  add_chosen(*latest_, all);
  return all;
}

}  // namespace rowlock::serve
