#include "journal_mysql.hpp"

#include <rowlock/guard/mysql.hpp>

#include <stdexcept>

namespace {

// The parts of mysql://user:password@host:port/database. Your own program has its own configuration.
struct login {
  std::string user, password, host, database;
  unsigned port = 3306;

  explicit login(const std::string& url) {
    const auto begin = url.find("://") + 3;
    const auto slash = url.find('/', begin);
    const auto at = url.rfind('@', slash);
    const bool named = at != std::string::npos && at > begin;
    const auto who = named ? url.substr(begin, at - begin) : std::string{};
    const auto where = named ? url.substr(at + 1, slash - at - 1) : url.substr(begin, slash - begin);
    user = who.substr(0, who.find(':'));
    if (user.size() < who.size()) password = who.substr(user.size() + 1);
    host = where.substr(0, where.find(':'));
    if (host.size() < where.size()) port = static_cast<unsigned>(std::stoul(where.substr(host.size() + 1)));
    if (slash != std::string::npos) database = url.substr(slash + 1, url.find('?', slash) - slash - 1);
  }
};

class mysql_journal : public journal {
 public:
  explicit mysql_journal(const std::string& url) : connection_{mysql_init(nullptr), &mysql_close} {
    const login to{url};
    if (!mysql_real_connect(connection_.get(), to.host.c_str(), to.user.c_str(), to.password.c_str(),
                            to.database.c_str(), to.port, nullptr, 0)) {
      fail();
    }
  }

  void create() override {
    run("CREATE TABLE quickstart_journal (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, "
        "token BIGINT NOT NULL, worker VARCHAR(64) NOT NULL, line VARCHAR(64) NOT NULL)");
  }

  void drop() override { run("DROP TABLE IF EXISTS quickstart_journal, quickstart_migration"); }

  bool write(const rowlock::hold& hold, const std::string& worker, const std::string& line) override {
    run("START TRANSACTION");
    try {
      rowlock::guard(connection_.get(), hold);
    } catch (const rowlock::error& error) {
      run("ROLLBACK");
      if (error.code() == rowlock::errc::hold_lost) return false;
      throw;
    }
    run("INSERT INTO quickstart_journal (token, worker, line) VALUES (" + hold.token().to_string() + ", '" +
        quoted(worker) + "', '" + quoted(line) + "')");
    run("COMMIT");
    return true;
  }

  std::vector<std::string> lines() override {
    run("SELECT concat_ws(' ', token, worker, line) FROM quickstart_journal ORDER BY id");
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(connection_.get()),
                                                                        &mysql_free_result};
    if (!rows) fail();
    std::vector<std::string> lines;
    while (const MYSQL_ROW row = mysql_fetch_row(rows.get())) lines.emplace_back(row[0]);
    return lines;
  }

 private:
  void run(const std::string& sql) {
    if (mysql_query(connection_.get(), sql.c_str()) != 0) fail();
  }
  std::string quoted(const std::string& text) {
    std::string result(text.size() * 2 + 1, '\0');
    result.resize(mysql_real_escape_string(connection_.get(), result.data(), text.c_str(),
                                           static_cast<unsigned long>(text.size())));
    return result;
  }
  [[noreturn]] void fail() { throw std::runtime_error(mysql_error(connection_.get())); }

  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

}  // namespace

std::unique_ptr<journal> open_mysql_journal(const std::string& url) {
  return std::make_unique<mysql_journal>(url);
}
