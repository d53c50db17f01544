#include "fault.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

namespace rowlock::test {

namespace {

// Another program has the file's only write lock.
std::int64_t lock_file(scene& now) {
  auto other = now.where.session();
  begin_step("take the file's write lock");
  other->begin();
  pause(now.any(now.ttl / 2, now.ttl * 2));
  other->run("ROLLBACK");
  return history_recorder::now();
}

std::int64_t fill_disk(scene& now) {
  begin_step("fill the disk");
  now.where.disk().fill();
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  now.where.disk().make_room();
  return history_recorder::now();
}

// Writes until the server needs more space than there is. PostgreSQL's log takes all of it, and PostgreSQL ends by
// itself.
void use_up(sql_session& session, bool is_postgres) {
  try {
    for (int round = 0; round < 100; ++round) {
      session.run(is_postgres ? "SELECT pg_logical_emit_message(false, 'ballast', repeat('x', 500000))"
                              : "INSERT INTO ballast VALUES (repeat('x', 5000000))");
    }
  } catch (const std::exception&) {
    return;
  }
  throw std::runtime_error("the disk is not full");
}

std::int64_t fill_disk_of_server(scene& now) {
  const bool is_postgres = now.where.database() == "postgres";
  begin_step("fill the server's disk");
  auto session = now.where.session();
  if (!is_postgres) session->run("CREATE TABLE ballast (text longtext NOT NULL)");
  now.where.disk().fill();
  // If the server does not use up the space, the full disk affects only files that grow.
  if (now.random() % 3 != 0) use_up(*session, is_postgres);
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  begin_step("make room on the server's disk");
  now.where.disk().make_room();
  now.where.server().revive();
  if (!is_postgres) now.where.session()->run("DROP TABLE ballast");
  return history_recorder::now();
}

}  // namespace

std::vector<fault> file_faults() {
  return {
      {"file-locked",
       "another process holds the file's write lock for up to twice the ttl",
       {"sqlite"},
       false,
       lock_file},
      {"disk-full",
       "the disk of the file is full for a while (needs root)",
       {"sqlite"},
       false,
       fill_disk,
       {"database"},
       equipment::small_disk},
      {"disk-full",
       "the disk of the server is full for a while; a server that ends for it is started again (needs root)",
       {"postgres", "mariadb", "mysql"},
       false,
       fill_disk_of_server,
       {"database", "order", "orphan"},
       equipment::small_disk},
  };
}

}  // namespace rowlock::test
