#include "migrate/blank_database.hpp"

#include "model/ids.hpp"
#include "store/open.hpp"
#include "support/stores.hpp"

#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <sys/wait.h>

namespace rowlock::test {

namespace {

std::string server_url() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES_URL");
  if (!url || !*url) throw std::runtime_error("ROWLOCK_TEST_POSTGRES_URL is not set; or use --stores=sqlite");
  return url;
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string output;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, got);
  const int status = ::pclose(pipe);
  if (status != 0) throw std::runtime_error(command + ": " + output);
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

}  // namespace

blank_database::blank_database(const std::string& store) : store_{store} {
  const auto name = "t" + model::id128::random().to_string().substr(0, 12);
  if (store_ == "postgres") {
    run("CREATE SCHEMA " + name);
    schema_ = name;
  }
#ifdef ROWLOCK_TEST_MYSQL
  if (dialect() == "mysql") {
    mysql_connection{mysql_server_url(store_)}.run("CREATE DATABASE " + name);
    database_url_ = with_database(mysql_server_url(store_), name);
  }
#endif
}

blank_database::~blank_database() {
  try {
    if (!schema_.empty()) run("SET client_min_messages = warning; DROP SCHEMA " + schema_ + " CASCADE");
    if (!database_url_.empty()) run("DROP DATABASE " + database_url_.substr(database_url_.rfind('/') + 1));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
  }
}

std::string blank_database::dialect() const {
  return dialect_of(store_);
}

std::string blank_database::url() const {
  if (dialect() == "mysql") return database_url_;
  return store_ == "postgres" ? server_url() : "sqlite:" + (folder_.path() / "locks.db").string();
}

options blank_database::settings() const {
  options result;
  result.schema = schema_;
  result.application = "migrate tests";
  return result;
}

std::string blank_database::tool(const std::string& arguments) const {
  if (store_ == "postgres") {
    return output_of("PGOPTIONS='-csearch_path=" + schema_ + "' psql -XqAt -v ON_ERROR_STOP=1 '" +
                     server_url() + "' " + arguments);
  }
#ifdef ROWLOCK_TEST_MYSQL
  if (dialect() == "mysql") return output_of(mysql_client_command(store_, database_url_) + ' ' + arguments);
#endif
  return output_of("sqlite3 -batch -bail '" + (folder_.path() / "locks.db").string() + "' " + arguments);
}

void blank_database::run_file(const std::filesystem::path& file) const {
  tool("< '" + file.string() + "'");
}

std::string blank_database::run(const std::string& sql) const {
  const auto path = folder_.path() / "script.sql";
  std::ofstream{path} << sql << ";\n";
  return tool("< '" + path.string() + "'");
}

std::filesystem::path blank_database::migrations() const {
  return std::filesystem::path{ROWLOCK_SOURCE_DIR} / "migrations" / dialect();
}

std::filesystem::path blank_database::schema_file() const {
  return std::filesystem::path{ROWLOCK_SOURCE_DIR} / "schema" / (dialect() + ".sql");
}

std::vector<std::string> blank_database::describe() const {
  store::store_options how;
  how.schema = schema_;
  return store::open_for_migration(url(), how)->describe();
}

std::string blank_database::lease_statement(int seconds) const {
  const std::string columns =
      "INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, created_at, expires_at) ";
  const auto digits = "'" + model::id128::random().to_string() + "'";
  const auto id = dialect() == "mysql" ? "unhex(" + digits + ")" : digits;
  const auto values = "VALUES (" + id + ", " + id + ", 'host', 1, 'test', 1000, ";
  const auto ahead = std::to_string(seconds);
  if (store_ == "postgres") {
    return columns + values + "clock_timestamp(), clock_timestamp() + interval '" + ahead + " seconds')";
  }
  if (dialect() == "mysql") {
    return columns + values + "utc_timestamp(6), utc_timestamp(6) + INTERVAL " + ahead + " SECOND)";
  }
  return columns + values + "0, (strftime('%s', 'now') + " + ahead + ") * 1000000)";
}

}  // namespace rowlock::test
