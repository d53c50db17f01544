#include "docs/migration_tools.hpp"

#include "docs/document.hpp"
#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif
#ifdef ROWLOCK_TEST_POSTGRES
#include <pqxx/pqxx>
#endif

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace rowlock::test {

namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream input{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{input}, {}};
}

// As goose's internal/sqlparser/parser.go: a semicolon ends a statement where it ends a line, except between
// StatementBegin and StatementEnd; comments before a statement are left out.
std::vector<std::string> goose_statements(const std::string& text) {
  std::vector<std::string> statements;
  std::string buffer;
  bool begun = false;
  bool block = false;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("-- +goose")) {
      const auto word = line.substr(std::string{"-- +goose "}.size());
      if (word == "Down") break;
      if (word == "Up") begun = true;
      if (word == "StatementBegin") block = true;
      if (word != "StatementEnd") continue;
      block = false;
      statements.push_back(std::exchange(buffer, ""));
      continue;
    }
    if (buffer.empty() && (line.starts_with("--") || line.empty())) continue;
    if (!begun) throw std::runtime_error("goose: there is SQL before Up: " + line);
    buffer += line + '\n';
    if (!block && line.ends_with(';')) statements.push_back(std::exchange(buffer, ""));
  }
  if (!buffer.empty() || block) throw std::runtime_error("goose: a statement has no end: " + buffer);
  return statements;
}

// As dbmate's pkg/dbmate/migration.go, which sends the whole block at once.
std::string dbmate_block(const std::string& text) {
  const auto up = text.find("-- migrate:up\n");
  const auto down = text.find("\n-- migrate:down\n");
  if (up != 0 || down == std::string::npos) throw std::runtime_error("dbmate: the blocks are not there");
  return text.substr(0, down);
}

// The statements of a changeset, up to its rollback.
std::vector<std::string> liquibase_statements(const std::string& text) {
  if (!text.starts_with("--liquibase formatted sql\n")) throw std::runtime_error("liquibase: the first line");
  const auto changeset = text.find("\n--changeset ");
  const auto begin = text.find('\n', changeset + 1) + 1;
  const auto attributes = text.substr(changeset, begin - changeset);
  const auto end = text.find("--rollback ");
  if (changeset == std::string::npos || end == std::string::npos) {
    throw std::runtime_error("liquibase: there is no changeset, or it has no rollback");
  }
  const auto sql = text.substr(begin, end - begin);
  if (attributes.find(" splitStatements:false") != std::string::npos) return {sql};
  std::vector<std::string> statements;
  std::size_t from = 0;
  for (auto at = sql.find(";\n"); at != std::string::npos; at = sql.find(";\n", from)) {
    statements.push_back(sql.substr(from, at + 1 - from));
    from = at + 2;
  }
  return statements;
}

std::regex name_of(const migration_tool& tool) {
  if (tool.format == "flyway") return std::regex{R"(V([0-9]+)__[^.]+\.sql)"};
  if (tool.format == "golang-migrate") return std::regex{R"(([0-9]+)_.*\.up\..*)"};
  return std::regex{R"(([0-9]+)_.*\.sql)"};
}

std::string port_and_path(const std::string& url) {
  return url.substr(url.find('@') + 1);
}

void run_in_transaction(const blank_database& db, const std::vector<std::string>& statements) {
#ifdef ROWLOCK_TEST_POSTGRES
  if (db.dialect() == "postgres") {
    pqxx::connection connection{db.url()};
    pqxx::nontransaction session{connection};
    session.exec("SET search_path = " + db.settings().schema);
    session.exec("BEGIN");
    for (const auto& one : statements) session.exec(one);
    session.exec("COMMIT");
    return;
  }
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (db.dialect() == "mysql") {
    mysql_connection session{db.url()};
    // goose and Liquibase send one statement at a time; the others tell the driver to take any number.
    if (statements.size() > 1) mysql_set_server_option(session.handle(), MYSQL_OPTION_MULTI_STATEMENTS_OFF);
    session.run("START TRANSACTION");
    for (const auto& one : statements) session.run(one);
    session.run("COMMIT");
    return;
  }
#endif
  std::string script = "BEGIN;\n";
  for (const auto& one : statements) script += one + '\n';
  db.run(script + "COMMIT");
}

}  // namespace

const std::vector<migration_tool>& migration_tools() {
  static const std::vector<migration_tool> tools{{"flyway", "flyway", "Flyway"},
                                                 {"golang-migrate", "migrate", "golang-migrate"},
                                                 {"goose", "goose", "goose"},
                                                 {"dbmate", "dbmate", "dbmate"},
                                                 {"liquibase", "liquibase", "Liquibase"}};
  return tools;
}

std::map<std::string, std::string> environment_of(const migration_tool& tool, const blank_database& db) {
  const auto schema = db.settings().schema;
  const auto place = port_and_path(db.url());
  if (db.dialect() == "postgres") {
    const auto url = "postgres://postgres@" + place + "?sslmode=disable&search_path=" + schema;
    return {{"JDBC_URL", "jdbc:postgresql://" + place + "?currentSchema=" + schema},
            {"JDBC_USER", "postgres"},
            {"JDBC_PASSWORD", ""},
            {"LIQUIBASE_COMMAND_USERNAME", "postgres"},
            {"LIQUIBASE_COMMAND_PASSWORD", "none"},
            {"DATABASE_URL", url},
            {"GOOSE_DRIVER", "postgres"},
            {"GOOSE_DBSTRING", url},
            {"DBMATE_NO_DUMP_SCHEMA", "true"}};
  }
  if (db.dialect() == "mysql") {
    const auto slash = place.find('/');
    const auto go_address = "rowlock:rowlock@tcp(" + place.substr(0, slash) + ")" + place.substr(slash);
    return {{"JDBC_URL", "jdbc:mariadb://" + place},
            {"JDBC_USER", "rowlock"},
            {"JDBC_PASSWORD", "rowlock"},
            {"LIQUIBASE_COMMAND_USERNAME", "rowlock"},
            {"LIQUIBASE_COMMAND_PASSWORD", "rowlock"},
            {"DATABASE_URL", tool.format == "golang-migrate" ? "mysql://" + go_address : db.url()},
            {"GOOSE_DRIVER", "mysql"},
            {"GOOSE_DBSTRING", go_address},
            {"DBMATE_NO_DUMP_SCHEMA", "true"}};
  }
  const auto file = db.url().substr(db.url().find(':') + 1);
  return {{"JDBC_URL", "jdbc:sqlite:" + file},
          {"JDBC_USER", ""},
          {"JDBC_PASSWORD", ""},
          {"DATABASE_URL", (tool.format == "golang-migrate" ? "sqlite3://" : "sqlite:") + file},
          {"GOOSE_DRIVER", "sqlite3"},
          {"GOOSE_DBSTRING", file},
          {"DBMATE_NO_DUMP_SCHEMA", "true"}};
}

void write_own_migration(const migration_tool& tool, const std::filesystem::path& folder,
                         const std::string& version, const std::string& table) {
  const auto up = "CREATE TABLE " + table + " (id INTEGER NOT NULL);\n";
  const auto down = "DROP TABLE " + table + ";\n";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream{folder / name} << text;
  };
  if (tool.format == "flyway") write("V" + version + "__" + table + ".sql", up);
  if (tool.format == "golang-migrate") {
    write(version + "_" + table + ".up.sql", up);
    write(version + "_" + table + ".down.sql", down);
  }
  const auto name = version + "_" + table + ".sql";
  if (tool.format == "goose") write(name, "-- +goose Up\n" + up + "-- +goose Down\n" + down);
  if (tool.format == "dbmate") write(name, "-- migrate:up\n" + up + "\n-- migrate:down\n" + down);
  if (tool.format == "liquibase") {
    write(name, "--liquibase formatted sql\n\n--changeset team:" + table + '\n' + up + "--rollback " + down);
  }
}

std::vector<std::filesystem::path> in_order(const migration_tool& tool, const std::filesystem::path& folder) {
  const auto pattern = name_of(tool);
  std::map<std::uint64_t, std::filesystem::path> by_number;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    std::smatch match;
    const auto name = entry.path().filename().string();
    if (!std::regex_match(name, match, pattern)) continue;
    if (!by_number.emplace(std::stoull(match[1]), entry.path()).second) {
      throw std::runtime_error(tool.program + ": two migrations have one version: " + name);
    }
  }
  std::vector<std::filesystem::path> files;
  for (const auto& [number, file] : by_number) files.push_back(file);
  // dbmate and Liquibase's includeAll sort by name.
  if (tool.format == "dbmate" || tool.format == "liquibase") std::ranges::sort(files);
  return files;
}

std::vector<std::string> statements_up(const migration_tool& tool, const std::filesystem::path& file) {
  const auto text = contents(file);
  if (tool.format == "goose") return goose_statements(text);
  if (tool.format == "dbmate") return {dbmate_block(text)};
  if (tool.format == "liquibase") return liquibase_statements(text);
  if (text.find("${") != std::string::npos) throw std::runtime_error("Flyway and Liquibase replace ${}");
  return {text};
}

void apply_like(const migration_tool& tool, const std::filesystem::path& folder, const blank_database& db) {
  for (const auto& file : in_order(tool, folder)) run_in_transaction(db, statements_up(tool, file));
}

}  // namespace rowlock::test
