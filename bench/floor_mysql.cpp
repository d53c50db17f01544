#include "bench/floor.hpp"
#include "bench/server_usage.hpp"
#include "bench/soci_words.hpp"

#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

namespace rowlock::bench {

namespace {

std::string mysql_table(const plan& plan, const std::string& of = "bench_floor") {
  return plan.settings.prefix + of;
}

class mysql_connection final : public floor_connection {
 public:
  mysql_connection(const plan& plan, int row)
      : session_{soci::mysql, soci_words(plan.url)},
        row_{row},
        update_{(session_.prepare << "UPDATE " + mysql_table(plan) + " SET owner = :owner WHERE name = :row",
                 soci::use(owner_), soci::use(row_))},
        passing_{passing_row(row)},
        insert_{(session_.prepare << "INSERT INTO " + mysql_table(plan) + " (name, owner) VALUES (:row, 0)",
                 soci::use(passing_))},
        delete_{(session_.prepare << "DELETE FROM " + mysql_table(plan) + " WHERE name = :row",
                 soci::use(passing_))} {}

  // With autocommit each statement is a transaction of its own: one round trip and one durable commit.
  void update() override {
    ++owner_;
    update_.execute(true);
    require_one_row(update_.get_affected_rows());
  }

  void insert_and_delete() override {
    insert_.execute(true);
    delete_.execute(true);
    require_one_row(delete_.get_affected_rows());
  }

  void update_together(int rows) override {
    soci::transaction transaction{session_};
    for (row_ = 0; row_ < rows; ++row_) update();
    transaction.commit();
  }

 private:
  soci::session session_;
  int owner_ = 0;
  int row_;
  soci::statement update_;
  int passing_;
  soci::statement insert_;
  soci::statement delete_;
};

class mysql_floor final : public floor_database {
 public:
  explicit mysql_floor(const plan& plan)
      : plan_{plan}, table_{mysql_table(plan)}, session_{soci::mysql, soci_words(plan.url)} {
    session_ << "DROP TABLE IF EXISTS " + table_;
    session_ << "CREATE TABLE " + table_ + " (name INT PRIMARY KEY, owner INT NOT NULL) ENGINE = InnoDB";
    for (int row = 0; row < floor_rows; ++row) {
      session_ << "INSERT INTO " + table_ + " VALUES (:row, 0)", soci::use(row);
    }
  }

  ~mysql_floor() override {
    try {
      session_ << "DROP TABLE IF EXISTS " + table_;
    } catch (const std::exception&) {
      // The connection is gone; the next bench drops the table.
    }
  }

  std::unique_ptr<floor_connection> connect(int row) override {
    return std::make_unique<mysql_connection>(plan_, row % floor_rows);
  }

  std::shared_ptr<void> open_snapshot() override {
    auto session = std::make_shared<soci::session>(soci::mysql, soci_words(plan_.url));
    *session << "START TRANSACTION WITH CONSISTENT SNAPSHOT";
    return session;
  }

  std::string durability() override {
    std::string text = variable("version");
    for (const char* name : {"innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog",
                             "innodb_flush_method", "innodb_doublewrite"}) {
      text += fmt::format(", {}={}", name, variable(name));
    }
    return text;
  }

  std::int64_t activity() override {
    ++own_;  // the server counts this statement, too
    return status("Questions") - own_;
  }
  std::string activity_name() override { return "statements, by Questions of the whole server"; }

  std::int64_t rows_written() override {
    std::int64_t sum = 0;
    for (const auto& name : row_counters()) sum += status(name);
    own_ += 4;
    return sum;
  }
  void drop_remains() override { session_ << "DROP TABLE IF EXISTS " + mysql_table(plan_, "migration"); }

  std::optional<pid_t> server_process() override {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    if (variable("hostname") != host.data()) return {};
    std::ifstream file{std::filesystem::path{variable("datadir")} / variable("pid_file")};
    pid_t process = 0;
    file >> process;
    // A server that was unpacked beside the system is started by its own loader, after which the process is named.
    const auto command = command_line_of(process);
    if (command.find("mariadbd") == std::string::npos && command.find("mysqld") == std::string::npos)
      return {};
    return process;
  }

  std::string rows_written_name() override {
    return fmt::format("{} of the whole server", fmt::join(row_counters(), " + "));
  }

 private:
  // On MySQL the handlers count the rows of SHOW STATUS, too; MariaDB has no count of InnoDB's rows.
  std::vector<std::string> row_counters() {
    if (variable("version").find("MariaDB") != std::string::npos) {
      return {"Handler_write", "Handler_update", "Handler_delete"};
    }
    return {"Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted"};
  }
  std::string variable(const std::string& name) { return value("SHOW GLOBAL VARIABLES LIKE '" + name + "'"); }
  std::int64_t status(const std::string& name) {
    return std::stoll(value("SHOW GLOBAL STATUS LIKE '" + name + "'"));
  }
  std::string value(const std::string& show) {
    std::string name;
    std::string found;
    session_ << show, soci::into(name), soci::into(found);
    return found;
  }

  plan plan_;
  std::string table_;
  soci::session session_;
  std::int64_t own_ = 0;
};

}  // namespace

std::unique_ptr<floor_database> open_mysql_floor(const plan& plan) {
  return std::make_unique<mysql_floor>(plan);
}

}  // namespace rowlock::bench
