#include "ledger.hpp"

#include <unistd.h>

#include <thread>

namespace rowlock::test {

namespace {

constexpr const char* tables = R"(
CREATE TABLE @counter (name @name NOT NULL PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE @log (id @id, name text NOT NULL, hold_id text NOT NULL, token bigint NOT NULL,
                   value bigint NOT NULL, pid bigint NOT NULL);
CREATE TABLE @ticket (id @id, name text NOT NULL, hold_id text NOT NULL, ticket bigint NOT NULL);
)";

// The words in which the dialects differ.
struct words {
  const char* id;    // the type of the log's key
  const char* name;  // the type of a counter's key
  const char* trigger;
};

constexpr words postgres{"bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "text", R"(
CREATE FUNCTION @note_ticket() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO @ticket (name, hold_id, ticket) VALUES (NEW.name, replace(NEW.hold_id::text, '-', ''), NEW.ticket);
  RETURN NULL;
END $$;
CREATE TRIGGER note_ticket AFTER INSERT ON @queue FOR EACH ROW EXECUTE FUNCTION @note_ticket();
)"};

constexpr words mysql{"bigint NOT NULL AUTO_INCREMENT PRIMARY KEY", "varbinary(512)", R"(
CREATE TRIGGER @note_ticket AFTER INSERT ON @queue FOR EACH ROW
  INSERT INTO @ticket (name, hold_id, ticket) VALUES (NEW.name, lower(hex(NEW.hold_id)), NEW.ticket);
)"};

constexpr words sqlite{"INTEGER PRIMARY KEY AUTOINCREMENT", "text", R"(
CREATE TRIGGER @note_ticket AFTER INSERT ON @queue BEGIN
  INSERT INTO @ticket (name, hold_id, ticket) VALUES (NEW.name, NEW.hold_id, NEW.ticket);
END;
)"};

const words& words_of(dialect which) {
  return which == dialect::postgres ? postgres : which == dialect::mysql ? mysql : sqlite;
}

}  // namespace

void ledger::create(const std::vector<std::string>& names) {
  const auto& own = words_of(session_.dialect());
  const auto script = replace_all(replace_all(tables, "@id", own.id), "@name", own.name);
  session_.run(replace_all(script, "@", prefix_));
  for (const auto& name : names) {
    session_.run("INSERT INTO " + prefix_ + "counter (name, value) VALUES ($1, 0)", {name});
  }
}

void ledger::note_tickets() {
  session_.run(replace_all(words_of(session_.dialect()).trigger, "@", prefix_));
}

void ledger::note_queue(const std::string& name) {
  // Two statements, because INSERT … SELECT would lock rowlock's rows.
  const auto waiting =
      session_.run("SELECT lower(hex(hold_id)), ticket FROM " + prefix_ + "queue WHERE name = $1", {name});
  for (const auto& waiter : waiting) {
    session_.run("INSERT INTO " + prefix_ + "ticket (name, hold_id, ticket) VALUES ($1, $2, $3)",
                 {name, waiter[0], waiter[1]});
  }
}

std::int64_t ledger::read(const std::string& name) {
  return session_.number("SELECT value FROM " + prefix_ + "counter WHERE name = $1", {name});
}

void ledger::write(const hold& held, std::int64_t value) {
  const auto text = std::to_string(value);
  session_.run("UPDATE " + prefix_ + "counter SET value = $1 WHERE name = $2", {text, held.name()});
  session_.run(
      "INSERT INTO " + prefix_ + "log (name, hold_id, token, value, pid) VALUES ($1, $2, $3, $4, $5)",
      {held.name(), held.id().to_string(), held.token().to_string(), text, std::to_string(::getpid())});
}

void ledger::add_unguarded(const hold& held) {
  const auto value = read(held.name());
  // If there were a second holder, it would now read the same value.
  std::this_thread::yield();
  session_.begin();
  write(held, value + 1);
  session_.run("COMMIT");
}

void ledger::add_guarded(const hold& held) {
  session_.begin();
  try {
    session_.guard(held);
  } catch (...) {
    session_.run("ROLLBACK");
    throw;
  }
  write(held, read(held.name()) + 1);
  session_.run("COMMIT");
}

audit ledger::check() {
  const auto ask = [&](const std::string& sql) { return session_.number(replace_all(sql, "@", prefix_)); };
  audit found;
  found.counted = ask("SELECT sum(value) FROM @counter");
  found.logged = ask("SELECT count(*) FROM @log");
  found.token_faults = ask(
      "SELECT count(*) FROM (SELECT token, lag(token) OVER (PARTITION BY name ORDER BY value, id) AS earlier "
      "FROM @log) AS entries WHERE token <= earlier");
  const std::string tickets = "(SELECT DISTINCT name, hold_id, ticket FROM @ticket) AS t";
  const std::string granted = "@log AS l JOIN " + tickets + " ON t.name = l.name AND t.hold_id = l.hold_id";
  found.queued = ask("SELECT count(*) FROM " + granted);
  found.ticket_faults =
      ask("SELECT count(*) FROM (SELECT t.ticket, lag(t.ticket) OVER (PARTITION BY l.name ORDER BY l.token) "
          "AS earlier FROM " +
          granted + ") AS entries WHERE ticket <= earlier");
  found.repeated_values =
      ask("SELECT count(*) "
          "FROM (SELECT name, value FROM @log GROUP BY name, value HAVING count(*) > 1) AS entries");
  return found;
}

}  // namespace rowlock::test
