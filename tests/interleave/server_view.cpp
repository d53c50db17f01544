#include "server_view.hpp"

#include "sql_session.hpp"
#include "support/mysql_waiters.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

namespace rowlock::test {

namespace {

class postgres_view final : public server_view {
 public:
  explicit postgres_view(const std::string& url) : session_{sql_session::open(url)} {}

  std::vector<sight> look(std::span<const std::string> backends) override {
    std::vector<sight> seen;
    for (const auto& backend : backends) {
      const bool blocked =
          !backend.empty() &&
          session_->number("SELECT cardinality(pg_blocking_pids($1::integer))", {backend}) > 0;
      seen.push_back(blocked ? sight::blocked : sight::moving);
    }
    return seen;
  }

 private:
  std::unique_ptr<sql_session> session_;
};

// A block of statements stops at a user lock that is named after its connection (interposed.cpp). This view holds that
// lock. To let a block go on, the view releases the lock and requests it again: it is granted when the block has passed
// the stop.
class mysql_view final : public server_view {
 public:
  explicit mysql_view(const std::string& url) : session_{sql_session::open(url)} {
    is_mariadb_ = session_->number("SELECT VERSION() LIKE '%MariaDB%'") == 1;
  }

  std::vector<sight> look(std::span<const std::string> backends) override {
    const std::lock_guard lock{mutex_};
    std::set<std::string> stopped;
    for (const auto& row :
         session_->run("SELECT id FROM information_schema.processlist WHERE state = 'User lock'")) {
      stopped.insert(row.at(0));
    }
    std::vector<sight> seen;
    for (const auto& backend : backends) {
      seen.push_back(stopped.contains(backend) ? sight::stopped : sight::moving);
    }
    if (std::ranges::count(seen, sight::moving) == 0) return seen;
    const auto blocked = waiting();
    for (std::size_t i = 0; i < backends.size(); ++i) {
      if (seen[i] == sight::moving && blocked(backends[i])) seen[i] = sight::blocked;
    }
    return seen;
  }
  void stop_in_blocks(const std::string& backend) override {
    const std::lock_guard lock{mutex_};
    if (stopping_.insert(backend).second) take(backend);
  }
  void let_go(const std::string& backend) override {
    const std::lock_guard lock{mutex_};
    session_->run("DO RELEASE_LOCK('" + backend + "')");
    take(backend);
  }

 private:
  void take(const std::string& backend) { session_->run("DO GET_LOCK('" + backend + "', 60)"); }

  // Which backends wait for a lock at this moment.
  std::function<bool(const std::string& backend)> waiting() {
    if (is_mariadb_) {
      return [report = session_->run("SHOW ENGINE INNODB STATUS").at(0).at(2)](const std::string& backend) {
        return waits(report, backend);
      };
    }
    std::set<std::string> found;
    for (const auto& row : session_->run(waiting_in_mysql)) {
      found.insert(row.at(0));
    }
    return [found = std::move(found)](const std::string& backend) { return found.contains(backend); };
  }

  // MariaDB's report has a paragraph for each transaction, with LOCK WAIT in one of its first lines.
  static bool waits(const std::string& report, const std::string& backend) {
    const auto transactions = report.find("LIST OF TRANSACTIONS");
    if (transactions == std::string::npos) return false;
    const auto thread = report.find("thread id " + backend + ",", transactions);
    if (thread == std::string::npos) return false;
    const auto begin = report.rfind("---TRANSACTION", thread);
    return report.substr(begin, thread - begin).find("LOCK WAIT") != std::string::npos;
  }

  std::unique_ptr<sql_session> session_;
  bool is_mariadb_ = false;
  std::mutex mutex_;
  std::set<std::string> stopping_;
};

class sqlite_view final : public server_view {
 public:
  std::vector<sight> look(std::span<const std::string> backends) override {
    return std::vector<sight>(backends.size(), sight::moving);
  }
};

}  // namespace

std::unique_ptr<server_view> open_postgres_view(const std::string& url) {
  return std::make_unique<postgres_view>(url);
}
std::unique_ptr<server_view> open_mysql_view(const std::string& url) {
  return std::make_unique<mysql_view>(url);
}
std::unique_ptr<server_view> open_sqlite_view() {
  return std::make_unique<sqlite_view>();
}

}  // namespace rowlock::test
