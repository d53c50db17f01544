#include "process_test.hpp"

#include <rowlock/migrate.hpp>

#include <stdexcept>
#include <thread>

namespace rowlock::test {

void process_test::SetUp() {
  store_ = make_store_fixture(GetParam());
  use(store_->url(), store_->options().prefix, store_->observer_url());
}

void own_server_test::SetUp() {
  server_ = make_own_server(GetParam());
  migrator{server_->url()}.up();
  use(server_->url(), options{}.prefix);
}

void own_server_test::TearDown() {
  // A test that failed may have left the server stopped, in which state nothing would answer.
  if (server_) server_->go_on();
  process_test::TearDown();
}

void process_test::use(std::string url, std::string prefix, std::string observer_url) {
  url_ = std::move(url);
  observer_url_ = observer_url.empty() ? url_ : std::move(observer_url);
  prefix_ = std::move(prefix);
  application_ = "process " + model::id128::random().to_string().substr(0, 12);
  reconnect();
}

void process_test::TearDown() {
  if (!session_ || dialect() == dialect::sqlite) return;
  until("the workers' backends are gone", [&] { return backends().empty(); });
}

worker_settings process_test::settings() const {
  worker_settings made;
  made.url = url_;
  made.prefix = prefix_;
  made.application = application_;
  return made;
}

std::int64_t process_test::number(std::string sql, std::initializer_list<std::string> parameters) {
  return session_->number(replace_all(std::move(sql), "@", prefix_), parameters);
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

void process_test::expire_lease_of(const worker& ended) {
  const auto of_it = " FROM @lease WHERE pid = " + std::to_string(ended.pid());
  const auto rows =
      session_->run(replace_all("SELECT " + in_dialect("id", "hex(id)", "id") + of_it, "@", prefix_));
  if (rows.size() != 1) throw std::runtime_error("the worker has " + std::to_string(rows.size()) + " leases");
  store_->expire(model::lease_id::parse(rows[0].at(0)));
}

std::string process_test::in_dialect(const char* postgres, const char* mysql, const char* sqlite) const {
  return dialect() == dialect::postgres ? postgres : dialect() == dialect::mysql ? mysql : sqlite;
}

std::vector<std::int64_t> process_test::backends() {
  // MariaDB records no application name. But the database is the test's own, and all sessions in it are
  // rowlock's except those of the user `application`: the test's own, and the raw ones of the workers.
  const auto rows =
      dialect() == dialect::postgres
          ? session_->run("SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY pid",
                          {"rowlock " + application_})
          : session_->run(
                "SELECT id FROM information_schema.processlist "
                "WHERE db = database() AND user <> 'application' ORDER BY id");
  std::vector<std::int64_t> found;
  for (const auto& row : rows) found.push_back(std::stoll(row.at(0)));
  return found;
}

std::int64_t process_test::terminate_backends() {
  const auto all = backends();
  for (const auto id : all) {
    const auto text = std::to_string(id);
    if (dialect() == dialect::postgres) {
      session_->run("SELECT pg_terminate_backend(" + text + ")");
    } else {
      try {
        session_->run("KILL " + text);
      } catch (const std::exception&) {
        // The backend has ended by itself.
      }
    }
  }
  return static_cast<std::int64_t>(all.size());
}

}  // namespace rowlock::test
