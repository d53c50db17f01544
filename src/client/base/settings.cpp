#include "client/base/settings.hpp"

#include "model/names.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

namespace rowlock::client_layer {

using namespace std::chrono_literals;

namespace {

// If a renewal gets no answer, another one must succeed in time on a new connection. This is the part of the
// ttl that is left for both statements after everything else is subtracted. The new connection gets a tenth
// of the ttl.
std::chrono::milliseconds left_for_a_hung_renewal(const options& settings) {
  const auto margin = settings.margin + settings.ttl / 1000;
  return settings.ttl - renew_interval(settings) - answer_grace(settings) - settings.ttl / 10 - margin;
}

}  // namespace

options checked_settings(options settings) {
  model::check_identifier("prefix", settings.prefix);
  if (!settings.schema.empty()) model::check_identifier("schema", settings.schema);
  model::check_ttl(settings.ttl, renew_interval(settings));
  model::check_application(settings.application);
  const auto refuse = [](const std::string& message) { throw error(errc::invalid_argument, message); };
  const auto positive = [&](const char* what, std::chrono::milliseconds value) {
    if (value <= 0ms || value > 24h) {
      refuse(fmt::format("{} is {} ms; it must be above 0 and at most 24 hours", what, value.count()));
    }
  };
  positive("statement_timeout", settings.statement_timeout);
  positive("connect_timeout", settings.connect_timeout);
  positive("poll_interval", settings.poll_interval);
  positive("close_timeout", settings.close_timeout);
  if (settings.margin < 0ms || settings.margin > settings.ttl / 4) {
    refuse(fmt::format(
        "a margin of {} ms does not fit a ttl of {} ms: it must be from 0 to a quarter of the ttl",
        settings.margin.count(), settings.ttl.count()));
  }
  if (settings.skew < 0ms || settings.skew > 24h) {
    refuse(fmt::format("a skew of {} ms is outside 0 to 24 hours", settings.skew.count()));
  }
  if (settings.sweep_interval) positive("sweep_interval", *settings.sweep_interval);
  if (settings.connections < 2 || settings.connections > 16) {
    refuse(fmt::format("options::connections is {}; it must be from 2 to 16", settings.connections));
  }
  // A dead connection must be noticed while there is time for another renewal. A short ttl lowers the default.
  const auto left = left_for_a_hung_renewal(settings);
  const auto longest = std::min(settings.ttl / 3, left);
  if (settings.statement_timeout == options{}.statement_timeout) {
    settings.statement_timeout =
        std::clamp<std::chrono::milliseconds>(settings.statement_timeout, 1ms, std::max(longest, 1ms));
  }
  if (settings.statement_timeout > settings.ttl / 3) {
    refuse(
        fmt::format("a statement_timeout of {} ms does not fit a ttl of {} ms: it must be at most a third of "
                    "the ttl, so that a dead connection is noticed before the lease ends",
                    settings.statement_timeout.count(), settings.ttl.count()));
  }
  if (settings.statement_timeout > left) {
    refuse(fmt::format(
        "a ttl of {} ms is too short to survive one unanswered renewal: a renew_interval of {} ms, a "
        "statement_timeout of {} ms and a margin of {} ms leave no time for another renewal on a new "
        "connection; {} ms are missing",
        settings.ttl.count(), renew_interval(settings).count(), settings.statement_timeout.count(),
        settings.margin.count(), (settings.statement_timeout - left).count()));
  }
  return settings;
}

}  // namespace rowlock::client_layer
