#include "fault.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

#include <algorithm>

namespace rowlock::test {

namespace {

const std::vector<std::string> servers{"postgres", "mariadb", "mysql"};

std::int64_t kill_server(scene& now) {
  begin_step("kill the server and start it again");
  now.where.server().kill();
  pause(now.any(0ms, now.ttl));
  begin_step("start the server again");
  now.where.server().start();
  return history_recorder::now();
}

std::int64_t shut_down_immediately(scene& now) {
  begin_step("shut the server down immediately");
  now.where.server().crash();
  pause(now.any(0ms, now.ttl));
  begin_step("start the server again");
  now.where.server().start();
  return history_recorder::now();
}

std::int64_t stop_server(scene& now) {
  begin_step("stop every process of the server");
  now.where.server().stop();
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  now.where.server().go_on();
  return history_recorder::now();
}

// Ends single connections of rowlock and of the application, one after the other.
std::int64_t kill_connections(scene& now) {
  auto session = now.where.session();
  const bool is_postgres = now.where.database() == "postgres";
  for (int round = 0; round < 12; ++round) {
    const auto rows = is_postgres ? session->run(
                                        "SELECT pid FROM pg_stat_activity WHERE backend_type = "
                                        "'client backend' AND pid <> pg_backend_pid() ORDER BY pid")
                                  : session->run(
                                        "SELECT id FROM information_schema.processlist WHERE id <> "
                                        "connection_id() AND db = database() ORDER BY id");
    if (!rows.empty()) {
      const auto& id = rows[now.random() % rows.size()].at(0);
      try {
        session->run(is_postgres ? "SELECT pg_terminate_backend(" + id + ")" : "KILL " + id);
      } catch (const std::exception&) {
        // The connection has ended by itself.
      }
    }
    pause(now.any(5ms, 80ms));
  }
  return history_recorder::now();
}

}  // namespace

std::vector<fault> server_faults() {
  // PostgreSQL may forget the latest places in queues and the latest releases; clients then repeat them.
  const std::vector<std::string> forgotten{"order", "orphan"};
  return {
      {"server-killed", "SIGKILL of every process of the server; it is started again", servers, false,
       kill_server, forgotten},
      {"server-shut-down",
       "immediate shutdown (`pg_ctl stop -m immediate`) and start",
       {"postgres"},
       false,
       shut_down_immediately,
       forgotten},
      {"server-stopped", "SIGSTOP of every process of the server, and SIGCONT", servers, false, stop_server},
      {"connections-killed", "connections ended with `pg_terminate_backend` or `KILL`, at random", servers,
       false, kill_connections},
  };
}

}  // namespace rowlock::test
