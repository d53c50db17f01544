#include "witness.hpp"

#include <unistd.h>

namespace rowlock::test {

namespace {

constexpr const char* columns = "(what, name, hold_id, lease, pid, token, weight, asked_after)";

struct trigger {
  std::string name;
  std::string event;
  std::string line;  // ~X~ stands for the id X as text
};

std::vector<trigger> triggers() {
  return {
      {"queued", "INSERT ON @queue",
       "'queued', NEW.name, ~NEW.hold_id~, ~NEW.lease_id~, 0, 0, NEW.weight, 0"},
      {"permitted", "INSERT ON @permit",
       "'permitted', NEW.name, ~NEW.hold_id~, ~NEW.lease_id~, 0, NEW.token, NEW.weight, 0"},
      {"died", "DELETE ON @lease", "'died', '', '', ~OLD.id~, OLD.pid, 0, 0, 0"},
  };
}

std::string id_as_text(std::string line, dialect which) {
  const char* before = which == dialect::postgres ? "replace(" : which == dialect::mysql ? "lower(hex(" : "";
  const char* behind = which == dialect::postgres ? "::text, '-', '')" : which == dialect::mysql ? "))" : "";
  for (const char* id : {"NEW.hold_id", "NEW.lease_id", "OLD.id"}) {
    line = replace_all(line, '~' + std::string{id} + '~', before + std::string{id} + behind);
  }
  return line;
}

std::string script_of(const trigger& one, dialect which) {
  const auto insert =
      "INSERT INTO @witness " + std::string{columns} + " VALUES (" + id_as_text(one.line, which) + ");";
  const auto head = "CREATE TRIGGER @saw_" + one.name + " AFTER " + one.event + " FOR EACH ROW ";
  if (which == dialect::mysql) return head + insert;
  if (which == dialect::sqlite) return head + "BEGIN " + insert + " END;";
  return "CREATE FUNCTION @saw_" + one.name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + insert +
         " RETURN NULL; END $$; " + head + "EXECUTE FUNCTION @saw_" + one.name + "();";
}

}  // namespace

void witness::create() {
  const auto which = session_.dialect();
  const char* id = which == dialect::postgres ? "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
                   : which == dialect::mysql  ? "bigint NOT NULL AUTO_INCREMENT PRIMARY KEY"
                                              : "INTEGER PRIMARY KEY AUTOINCREMENT";
  auto script = "CREATE TABLE @witness (id " + std::string{id} +
                ", what text NOT NULL, name text NOT NULL, hold_id text NOT NULL, lease text NOT NULL, "
                "pid bigint NOT NULL, token bigint NOT NULL, weight bigint NOT NULL, "
                "asked_after bigint NOT NULL);";
  for (const auto& one : triggers()) script += script_of(one, which);
  session_.run(replace_all(script, "@", prefix_));
}

std::int64_t witness::latest() {
  return session_.number("SELECT max(id) FROM " + prefix_ + "witness");
}

bool witness::come(const std::vector<visit>& visits, std::int64_t asked_after,
                   const std::function<bool()>& is_valid) {
  return say("came", visits, asked_after, is_valid);
}

bool witness::leave(const std::vector<visit>& visits, const std::function<bool()>& is_valid) {
  return say("left", visits, 0, is_valid);
}

bool witness::weigh(const std::vector<visit>& visits, const std::function<bool()>& is_valid) {
  return say("weighs", visits, 0, is_valid);
}

bool witness::say(const std::string& what, const std::vector<visit>& visits, std::int64_t asked_after,
                  const std::function<bool()>& is_valid) {
  session_.begin();
  for (const auto& one : visits) write(what, one, asked_after);
  const bool stands = is_valid();
  session_.run(stands ? "COMMIT" : "ROLLBACK");
  return stands;
}

void witness::note(const std::string& what, const std::string& name, std::int64_t token) {
  write(what, {name, "", token, 0}, 0);
}

void witness::write(const std::string& what, const visit& one, std::int64_t asked_after) {
  session_.run("INSERT INTO " + prefix_ + "witness " + columns + " VALUES ($1, $2, $3, '', $4, $5, $6, $7)",
               {what, one.name, one.hold_id, std::to_string(::getpid()), std::to_string(one.token),
                std::to_string(one.weight), std::to_string(asked_after)});
}

std::vector<witness_line> witness::lines() {
  std::vector<witness_line> read;
  for (const auto& row :
       session_.run("SELECT id, what, name, hold_id, lease, pid, token, weight, asked_after "
                    "FROM " +
                    prefix_ + "witness ORDER BY id")) {
    read.push_back({std::stoll(row[0]), row[1], row[2], row[3], row[4], std::stoll(row[5]),
                    std::stoll(row[6]), std::stoll(row[7]), std::stoll(row[8])});
  }
  return read;
}

}  // namespace rowlock::test
