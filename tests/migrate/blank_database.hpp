// An SQL database without rowlock's tables, used through the database's own command-line tool. So a test does what
// another migration tool would do, and sees what an operator would see.
#pragma once

#include "support/temporary_folder.hpp"

#include <rowlock/options.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace rowlock::test {

class blank_database {
 public:
  explicit blank_database(const std::string& store);  // not memory
  ~blank_database();
  blank_database(const blank_database&) = delete;
  blank_database& operator=(const blank_database&) = delete;

  std::string dialect() const;  // postgres, mysql or sqlite
  std::string url() const;
  rowlock::options settings() const;  // PostgreSQL: a schema of its own

  // Runs psql, mariadb, mysql or sqlite3, which stop at the first error. Throws std::runtime_error with the tool's
  // output.
  std::string run(const std::string& sql) const;
  void run_file(const std::filesystem::path& file) const;

  // migrations/<dialect>, schema/<dialect>.sql
  std::filesystem::path migrations() const;
  std::filesystem::path schema_file() const;

  // What migration_session::describe() returns for the present schema.
  std::vector<std::string> describe() const;

  // Adds a lease of a client that does not run. It expires in so many seconds.
  void add_lease(int seconds) const { run(lease_statement(seconds)); }
  // The statement that does so.
  std::string lease_statement(int seconds) const;

 private:
  std::string tool(const std::string& arguments) const;

  std::string store_;
  std::string schema_;        // PostgreSQL: this database's own schema
  std::string database_url_;  // MariaDB and MySQL: of its own database
  temporary_folder folder_;
};

}  // namespace rowlock::test
