#include "process_test.hpp"

#include <rowlock/migrate.hpp>

#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace rowlock::test {

namespace {

std::string with_prefix(std::string sql, const std::string& prefix) {
  for (auto at = sql.find('@'); at != std::string::npos; at = sql.find('@', at + prefix.size())) {
    sql.replace(at, 1, prefix);
  }
  return sql;
}

}  // namespace

bool is_long_run() {
  const char* value = std::getenv("ROWLOCK_TEST_LONG");
  return value && std::string_view{value} == "1";
}

void process_test::SetUp() {
  store_ = make_store_fixture(GetParam());
  use(store_->url(), store_->options().prefix);
}

void own_server_test::SetUp() {
  // Renewals alone bring releases to the disk, so that a crash can lose them.
  server_ = std::make_unique<own_postgres>(std::vector<std::string>{"wal_writer_delay = 10s"});
  migrator{server_->url()}.up();
  use(server_->url(), options{}.prefix);
}

void own_server_test::TearDown() {
  // A test that failed may have left it standing still, and nobody would answer.
  if (server_) server_->go_on();
  process_test::TearDown();
}

void process_test::use(std::string url, std::string prefix) {
  url_ = std::move(url);
  prefix_ = std::move(prefix);
  application_ = "process " + model::id128::random().to_string().substr(0, 12);
  reconnect();
}

void process_test::TearDown() {
  if (!session_ || !is_postgres()) return;
  until("the workers' backends are gone", [&] {
    return number("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1",
                  {"rowlock " + application_}) == 0;
  });
}

worker_settings process_test::settings() const {
  worker_settings made;
  made.url = url_;
  made.prefix = prefix_;
  made.application = application_;
  return made;
}

std::int64_t process_test::number(std::string sql, std::initializer_list<std::string> parameters) {
  return session_->number(with_prefix(std::move(sql), prefix_), parameters);
}

void process_test::until(const std::string& what, const std::function<bool()>& is_so,
                         std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("not within " + std::to_string(limit.count()) + " ms: " + what);
    }
    std::this_thread::sleep_for(5ms);
  }
}

void process_test::until_queued(std::int64_t count) {
  until(std::to_string(count) + " waiters stand in the queue", [&] { return queued() == count; });
}

std::int64_t process_test::terminate_backends() {
  return number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1",
                {"rowlock " + application_});
}

}  // namespace rowlock::test
