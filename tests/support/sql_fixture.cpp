#include "support/sql_fixture.hpp"

#include "store/sql_catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace rowlock::test {

namespace {

// The migration only adds, as "expand, then contract" demands: this version must run on its schema unchanged.
constexpr std::string_view made_up_next_migration = R"(
ALTER TABLE rowlock_lock ADD COLUMN made_up TEXT;
ALTER TABLE rowlock_lease ADD COLUMN made_up TEXT;
CREATE TABLE rowlock_made_up (id INTEGER NOT NULL PRIMARY KEY);
UPDATE rowlock_meta SET schema_version = schema_version + 1;
)";

}  // namespace

void migrate(std::span<const embedded::file> files, std::string_view prefix,
             const std::function<void(const std::string& sql)>& run) {
  std::vector<embedded::file> ups;
  std::ranges::copy_if(files, std::back_inserter(ups),
                       [](const auto& file) { return file.name.ends_with(".up"); });
  std::ranges::sort(ups, {}, &embedded::file::name);
  for (const auto& up : ups) run(store::with_prefix(up.text, prefix));

  const char* extra = std::getenv("ROWLOCK_TEST_EXTRA_MIGRATION");
  if (extra && std::string_view{extra} == "1") run(store::with_prefix(made_up_next_migration, prefix));
}

std::string emptying_script(std::string_view prefix) {
  std::string script;
  const auto empty = [&](std::string_view table) {
    script.append("DELETE FROM ").append(prefix).append(table).append(";");
  };
  for (const auto table : rowlock_tables) empty(table);
  if (asked_for_triggers()) empty("audit");
  return script;
}

bool asked_for_triggers() {
  const char* set = std::getenv("ROWLOCK_TEST_TRIGGERS");
  return set && std::string_view{set} == "1";
}

void add_triggers(const std::string& dialect, const std::string& prefix,
                  const std::function<void(const std::string& sql)>& run) {
  if (!asked_for_triggers()) return;
  const auto audit = prefix + "audit";
  if (dialect == "postgres") {
    run("CREATE TABLE " + audit + " (number bigserial PRIMARY KEY, what text NOT NULL)");
    run("CREATE FUNCTION " + audit +
        "() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT "
        "AS $$ BEGIN INSERT INTO " +
        audit +
        " (what) VALUES (TG_OP || ' ' || TG_TABLE_NAME); "
        "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$");
  } else if (dialect == "mysql") {
    run("CREATE TABLE " + audit + " (number BIGINT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(64) NOT NULL)");
  } else {
    run("CREATE TABLE " + audit + " (number INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT NOT NULL)");
  }
  const auto add = [&](const std::string& when, const std::string& change, const std::string& table) {
    auto trigger = "CREATE TRIGGER " + audit + '_' + when + '_' + change + '_' + table + ' ' + when + ' ' +
                   change + " ON " + prefix + table + " FOR EACH ROW ";
    if (dialect == "postgres") return run(trigger + "EXECUTE FUNCTION " + audit + "()");
    const auto note = "INSERT INTO " + audit + " (what) VALUES ('" + change + ' ' + table + "')";
    run(trigger + (dialect == "mysql" ? note : "BEGIN " + note + "; END"));
  };
  for (const auto table : rowlock_tables) {
    for (const char* when : {"before", "after"}) {
      for (const char* change : {"INSERT", "UPDATE", "DELETE"}) add(when, change, std::string{table});
    }
  }
}

}  // namespace rowlock::test
