#include "serve/service.hpp"

#include "cli/text.hpp"
#include "serve/dashboard.hpp"
#include "serve/lock_api.hpp"
#include "serve/metrics.hpp"
#include "serve/readiness.hpp"
#include "serve/server.hpp"
#include "serve/workers.hpp"

#include <rowlock/error.hpp>
#include <rowlock/prometheus.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace rowlock::serve {

namespace {

// How many calls of HTTP clients may be at the database at once. A client of rowlock's sends them on two connections.
constexpr std::size_t worker_threads = 4;
constexpr std::size_t waiting_jobs = 1000;

void check(const service_settings& settings) {
  if (settings.listen.is_loopback || settings.access.known_tokens) return;
  throw error(
      errc::invalid_argument,
      fmt::format("{} can be reached from other machines, so --tokens FILE is needed; make a token with "
                  "rowlock serve --new-token NAME ROLE..., or listen on 127.0.0.1",
                  settings.listen.text()));
}

// The parts, in the order in which each needs the ones before it.
class service {
 public:
  service(const service_settings& settings, const service_environment& environment)
      : settings_{settings},
        environment_{environment},
        db_{environment.connect, environment.schema_version,
            [this](const char* call, std::chrono::nanoseconds lasted, const error* failed) {
              metrics_.observe_call(call, lasted, failed);
            }},
        dispatcher_{router_, settings.access},
        http_{settings.listen, with_},
        upkeep_{db_, settings.upkeep, environment.note} {
    if (settings.metrics_every.count() > 0) {
      lock_metrics_ = std::make_unique<lock_metrics>(db_, settings.metrics_every, settings.metrics_names);
    }
    if (settings.has_dashboard) {
      dashboard_ = std::make_unique<dashboard>(dashboard::environment{.db = db_,
                                                                      .pool = *pool_,
                                                                      .upkeep = settings_.upkeep,
                                                                      .done = upkeep_.counts(),
                                                                      .may_write = settings_.writes(),
                                                                      .diagnose = environment.diagnose,
                                                                      .note = environment.note});
      dashboard_->add_routes(router_);
    }
    lock_api_->add_routes(router_);
    add_routes();
    add_metric_sources();
    with_.limits = settings.limits;
    with_.handle = [this](request from, std::string_view target, const reply& to) {
      dispatcher_.handle(std::move(from), target, to);
    };
    with_.answered = [this](unsigned status) { metrics_.count_response(status); };
  }

  ~service() { end(); }
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  void run() {
    http_.start();
    environment_.note(fmt::format("listening on http://{}", http_.address().text()));
    environment_.wait_for_end();
    environment_.note(fmt::format("ending; open requests have {}", cli::format_duration(settings_.drain)));
    upkeep_.stop();
    if (lock_metrics_) lock_metrics_->stop();
    if (!http_.drain(settings_.drain)) {
      environment_.note(
          fmt::format("{} connections are closed before their requests were answered", with_.all.count()));
    }
    end();
  }

 private:
  // Handlers and jobs have replies, which must be gone before the server.
  void end() {
    http_.stop();
    if (dashboard_) dashboard_->stop();
    environment_.diagnose.end();
    db_.close();
    readiness_pool_.reset();
    pool_.reset();
    dashboard_.reset();
    lock_api_.reset();
  }
  void add_routes() {
    router_.add_probe("/healthz", [](const request&, const reply& to) {
      to.send(json_response(200, {{"alive", true}}));
    });
    router_.add_probe("/readyz",
                      [this](const request& from, const reply& to) { readiness_.answer(from, to); });
    if (!lock_metrics_) return;
    router_.add("GET", "/metrics", role::read, [this](const request&, const reply& to) {
      to.send({.body = metrics_.text(), .type = "text/plain; version=0.0.4; charset=utf-8"});
    });
  }

  void add_metric_sources() {
    if (!lock_metrics_) return;
    metrics_.add_source([this] { return lock_metrics_->families(); });
    metrics_.add_source([this] {
      const auto& done = upkeep_.counts();
      const auto value = [](const auto& number) { return static_cast<double>(number.load()); };
      return metric_families{
          gauge("rowlock_serve_connections", "HTTP connections", static_cast<double>(with_.all.count())),
          gauge("rowlock_serve_leads", "1: this process holds the election and does what is switched on",
                value(done.leads)),
          counter("rowlock_serve_sweeps_total", "Sweeps that succeeded", value(done.sweeps)),
          counter("rowlock_serve_swept_leases_total", "Expired leases that were killed", value(done.leases)),
          counter("rowlock_serve_swept_locks_total", "Locks that were cleaned", value(done.locks)),
          counter("rowlock_serve_collected_locks_total", "Unused names that were deleted",
                  value(done.collected))};
    });
    metrics_.add_source([this] {
      const auto connected = db_.connected();
      return connected ? prometheus_statistics{*connected}.Collect() : metric_families{};
    });
  }

  const service_settings& settings_;
  const service_environment& environment_;
  metrics metrics_;
  database db_;
  std::unique_ptr<workers> pool_ = std::make_unique<workers>(worker_threads, waiting_jobs);
  // Readiness has a thread of its own, because its answer must not depend on how many other readings wait.
  std::unique_ptr<workers> readiness_pool_ = std::make_unique<workers>(1, 1);
  readiness readiness_{db_, *readiness_pool_};
  router router_;
  dispatcher dispatcher_;
  connection_context with_;
  server http_;  // listens before anything else begins, because this may fail
  upkeep upkeep_;
  std::unique_ptr<lock_metrics> lock_metrics_;
  std::unique_ptr<dashboard> dashboard_;
  std::unique_ptr<lock_api> lock_api_ = std::make_unique<lock_api>(db_);
};

}  // namespace

void serve(const service_settings& settings, const service_environment& environment) {
  check(settings);
  service{settings, environment}.run();
}

}  // namespace rowlock::serve
