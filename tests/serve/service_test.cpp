// The parts of the service together, in the test's own process.
#include "serve/service.hpp"

#include "serve/http_client.hpp"
#include "serve/limited_call.hpp"
#include "support/background.hpp"
#include "support/store_fixture.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace rowlock::test {

using namespace std::chrono_literals;

// A database of which a call hangs for ever, as behind a locked ledger.
TEST(service, ends_although_calls_without_a_time_limit_hang) {
  const auto fixture = make_store_fixture("sqlite");
  std::promise<void> go_on;
  std::promise<void> end;
  std::promise<std::uint16_t> listens;
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const auto hangs = [begun, may_end = go_on.get_future().share()] {
    ++*begun;
    may_end.wait();
    return 1;
  };
  serve::service_settings settings{
      .listen = serve::parse_listen_address("127.0.0.1:0"), .drain = 10ms, .metrics_every = 0ms};
  settings.upkeep.sweep_every = 0ms;
  const serve::service_environment environment{
      .connect = [&] { return connect(fixture->url()); },
      .schema_version = serve::limited_call<int>{"a call", hangs, 1h},
      .diagnose = serve::limited_call<std::vector<finding>>{"the doctor",
                                                            [hangs] {
                                                              hangs();
                                                              return std::vector<finding>{};
                                                            },
                                                            1h},
      .wait_for_end = [&] { end.get_future().wait(); },
      .note =
          [&](std::string_view line) {
            if (line.starts_with("listening")) {
              listens.set_value(
                  static_cast<std::uint16_t>(std::stoi(std::string{line.substr(line.rfind(':') + 1)})));
            }
          }};
  auto served = in_background([&] { serve::serve(settings, environment); });
  const auto port = listens.get_future().get();
  http_client health{port};
  http_client readiness{port};
  health.ask("/api/health");
  readiness.ask("/readyz");
  while (*begun < 2) std::this_thread::yield();
  end.set_value();
  EXPECT_EQ(served.wait_for(60s), std::future_status::ready);
  go_on.set_value();
  served.get();
}

}  // namespace rowlock::test
