// Faults of a server's state: it is read-only, another one takes over, or its clock steps.
#include "fault.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

#include <rowlock/rowlock.hpp>

namespace rowlock::test {

namespace {

std::int64_t be_read_only(scene& now) {
  auto session = now.where.session();
  const bool is_postgres = now.where.database() == "postgres";
  const auto set = [&](const std::string& value) {
    begin_step("set read-only " + value);
    if (!is_postgres) return void(session->run("SET GLOBAL read_only = " + value));
    session->run("ALTER SYSTEM SET default_transaction_read_only = " + value);
    session->run("SELECT pg_reload_conf()");
  };
  set("ON");
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  set("OFF");
  return history_recorder::now();
}

std::int64_t fail_over(scene& now) {
  now.where.fail_over(now.random() % 3 == 0 ? 0ms : now.any(0ms, now.ttl));
  return history_recorder::now();
}

void add_standby(scene& now) {
  now.where.add_standby();
}

std::int64_t step_clock(scene& now, int direction) {
  const auto by = now.any(now.ttl * 2, now.ttl * 8);
  now.where.step_clock(direction * std::chrono::ceil<std::chrono::seconds>(by));
  return history_recorder::now();
}

// Restores as docs/operations.md says, except that clients that cannot connect need not be stopped.
std::int64_t restore_backup(scene& now) {
  auto& server = now.where.server();
  begin_step("back the server up");
  server.back_up();
  pause(now.any(now.ttl / 2, now.ttl * 2));
  auto& proxy = now.where.proxy();
  proxy.carry(carrying::nobody);
  proxy.cut();
  begin_step("restore the backup");
  server.restore();
  auto& told = now.workers.told();
  told.read();
  admin{connect(now.where.url())}.raise_epoch(fencing_token{told.highest_token()});
  proxy.carry(carrying::all);
  return history_recorder::now();
}

}  // namespace

std::vector<fault> mode_faults() {
  return {
      {"read-only",
       "the server is switched to read-only and back",
       {"postgres", "mariadb", "mysql"},
       false,
       be_read_only,
       // The guard throws error(database) for everything that the server refuses.
       {"read_only", "database"}},
      {"fail-over",
       "SIGKILL of a primary; its synchronous standby is promoted",
       {"postgres"},
       false,
       fail_over,
       {"read_only", "order", "orphan"},
       equipment::synchronous_standby,
       add_standby},
      {"lossy-fail-over",
       "the same with an asynchronous standby: two may hold a lock, until one learns of its loss",
       {"postgres"},
       false,
       fail_over,
       {"read_only", "exclusion", "unaware", "order", "orphan"},
       equipment::asynchronous_standby,
       add_standby,
       true},
      {"backup-restored",
       "the server's data is replaced by a copy made some seconds before; "
       "then the epoch is raised: two may hold a lock, until one learns of its loss",
       {"postgres", "mariadb", "mysql"},
       true,
       restore_backup,
       {"exclusion", "unaware", "order", "orphan"},
       equipment::nothing,
       {},
       true},
      {"clock-forward",
       "the server's clock is set forward by more than the ttl: "
       "two may hold a lock, until one learns of its loss",
       {"postgres", "mariadb", "mysql"},
       false,
       [](scene& now) { return step_clock(now, 1); },
       // A waiter whose lease has ended may request again before it learns of that.
       {"exclusion", "unaware", "order"},
       equipment::clock},
      {"clock-back",
       "the server's clock is set back by more than the ttl",
       {"postgres", "mariadb", "mysql"},
       false,
       [](scene& now) { return step_clock(now, -1); },
       {},
       equipment::clock},
  };
}

}  // namespace rowlock::test
