#include "facts.hpp"

#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rowlock::test {

namespace {

// A question to the database, in the dialect of each kind.
struct question {
  const char* about;
  const char* postgres;
  const char* mysql;
};

constexpr question questions[] = {
    {"locks: name, hold, lease, in_use, has_queue, token",
     "SELECT name, hold_id, lease_id, in_use, has_queue, token "
     "FROM rowlock_lock WHERE in_use > 0 OR has_queue",
     "SELECT name, hex(hold_id), hex(lease_id), in_use, has_queue, token "
     "FROM rowlock_lock WHERE in_use > 0 OR has_queue"},
    {"permits: name, hold, lease", "SELECT name, hold_id, lease_id FROM rowlock_permit",
     "SELECT name, hex(hold_id), hex(lease_id) FROM rowlock_permit"},
    {"queues: name, ticket, hold, lease",
     "SELECT name, ticket, hold_id, lease_id FROM rowlock_queue ORDER BY 1, 2",
     "SELECT name, ticket, hex(hold_id), hex(lease_id) FROM rowlock_queue ORDER BY 1, 2"},
    {"leases: lease, process, expires in",
     "SELECT id, pid, expires_at - clock_timestamp() FROM rowlock_lease",
     "SELECT hex(id), pid, timediff(expires_at, sysdate(6)) FROM rowlock_lease"},
    {"sessions: number, state, since, whom it waits for, statement",
     "SELECT pid, state, wait_event_type, wait_event, clock_timestamp() - xact_start, "
     "clock_timestamp() - state_change, pg_blocking_pids(pid), left(query, 100) FROM pg_stat_activity "
     "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
     "SELECT p.id, p.command, p.state, p.time_ms, t.trx_state, t.trx_started, t.trx_rows_locked, "
     "t.trx_id, w.blocking_trx_id, left(p.info, 100) FROM information_schema.processlist AS p "
     "LEFT JOIN information_schema.innodb_trx AS t ON t.trx_mysql_thread_id = p.id "
     "LEFT JOIN information_schema.innodb_lock_waits AS w "
     "ON w.requesting_trx_id = t.trx_id WHERE p.id <> connection_id()"},
};

void print_answers(site& where, std::ostream& to) {
  const auto session = where.session();
  for (const auto& asked : questions) {
    to << "  " << asked.about << '\n';
    for (const auto& row : session->run(where.database() == "postgres" ? asked.postgres : asked.mysql)) {
      to << "   ";
      for (const auto& field : row) to << ' ' << field << " |";
      to << '\n';
    }
  }
}

void print_end(std::istream& log, std::ostream& to) {
  constexpr std::size_t lines = 8;
  std::deque<std::string> last;
  for (std::string line; std::getline(log, line);) {
    last.push_back(line);
    if (last.size() > lines) last.pop_front();
  }
  for (const auto& line : last) to << "    " << line << '\n';
}

void print_logs(const std::string& folder, std::ostream& to) {
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() != ".log") continue;
    to << "  " << entry.path().filename().string() << '\n';
    std::ifstream from{entry.path()};
    print_end(from, to);
  }
}

}  // namespace

std::string facts_of(site& where, const load_settings& load) {
  std::ostringstream text;
  try {
    if (where.database() != "sqlite") print_answers(where, text);
  } catch (const std::exception& failure) {
    text << "  " << failure.what() << '\n';
  }
  print_logs(load.folder, text);
  return text.str();
}

std::string end_of_server_log(const site& where) {
  std::istringstream log{where.server_log()};
  std::ostringstream text;
  print_end(log, text);
  return text.str();
}

}  // namespace rowlock::test
