// A database under test, with a server of its own if it has one.
#pragma once

#include "cluster.hpp"
#include "fault_proxy.hpp"
#include "own_pooler.hpp"
#include "own_server.hpp"
#include "server_clock.hpp"
#include "small_disk.hpp"
#include "sql_session.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::test {

// What a site has besides the database.
enum class equipment {
  nothing,
  asynchronous_standby,  // PostgreSQL
  synchronous_standby,
  clock,       // the server's own clock
  small_disk,  // with the database's files on it
  pooler,      // PgBouncer
  cluster,     // of three Galera nodes
};
// Whether this machine has the equipment.
bool is_available(equipment what);
const char* missing_for(equipment what);

class site {
 public:
  // database: postgres, mariadb, mysql, galera or sqlite. Starts the server and applies rowlock's migrations.
  explicit site(const std::string& database, equipment what = equipment::nothing);

  const std::string& database() const noexcept { return database_; }
  equipment has() const noexcept { return has_; }
  // The URL names both servers of a standby's pair, and all nodes of a cluster.
  const std::string& url() const noexcept { return url_; }
  // The URL through the pooler if there is one, or else through the proxy. Not for SQLite or a cluster.
  const std::string& proxied_url() const noexcept { return proxied_url_; }
  own_server& server() { return *server_; }
  fault_proxy& proxy() { return *proxy_; }
  small_disk& disk() { return *disk_; }
  own_pooler& pooler() { return *pooler_; }
  cluster& nodes() { return *nodes_; }
  // A place where workers connect, in turn: URLs for rowlock's connections and for the application's own.
  struct place {
    std::string url;
    std::string application_url;
  };
  std::vector<place> places(bool proxied) const;
  // The log of the site's own server; empty if the site has none.
  std::string server_log() const { return server_ ? server_->said() : std::string{}; }
  // Ends a standstill, so that everything answers again.
  void go_on();
  // Sets the server's clock forward or back.
  void step_clock(std::chrono::seconds by);

  // Makes a standby of the server, and waits until it follows.
  void add_standby();
  // Kills the server and promotes the standby, which then is the server. For the time `behind` before that, the standby
  // receives nothing: an asynchronous one does not know what was committed then.
  void fail_over(std::chrono::milliseconds behind);

  // The first column of the first row that a query gives. @ stands for the prefix.
  std::int64_t number(const std::string& sql);
  std::unique_ptr<sql_session> session() const;

 private:
  void start_postgres();
  void start_mysql();
  void start_cluster();

  const std::string database_;
  const equipment has_;
  temporary_folder folder_;
  std::optional<small_disk> disk_;
  std::optional<server_clock> clock_;
  std::unique_ptr<own_server> server_;
  std::unique_ptr<own_server> standby_;
  int next_link_ = 0;
  std::string url_;
  std::string proxied_url_;
  std::optional<fault_proxy> proxy_;
  std::optional<own_pooler> pooler_;
  std::optional<cluster> nodes_;
};

}  // namespace rowlock::test
