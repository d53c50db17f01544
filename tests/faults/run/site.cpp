#include "site.hpp"

#include "step.hpp"
#include "support/stores.hpp"

#include <rowlock/migrate.hpp>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

namespace rowlock::test {

namespace {

// The folder of a server's Unix socket. Its URL is postgresql:///postgres?user=postgres&host=FOLDER.
std::string socket_folder(const own_server& server) {
  return server.url().substr(server.url().find("host=") + 5);
}

}  // namespace

bool is_available(equipment what) {
  switch (what) {
    case equipment::small_disk: return small_disk::can_be_made();
    case equipment::pooler: return own_pooler::is_installed();
    case equipment::cluster: return std::getenv("ROWLOCK_TEST_GALERA_URLS") != nullptr;
    case equipment::nothing:
    case equipment::clock:
    case equipment::asynchronous_standby:
    case equipment::synchronous_standby: break;
  }
  return true;
}

const char* missing_for(equipment what) {
  switch (what) {
    case equipment::small_disk: return "root";
    case equipment::pooler: return "PgBouncer";
    case equipment::cluster: return "scripts/with-galera";
    case equipment::nothing:
    case equipment::clock:
    case equipment::asynchronous_standby:
    case equipment::synchronous_standby: break;
  }
  return "nothing";
}

site::site(const std::string& database, equipment what) : database_{database}, has_{what} {
  begin_step("start " + database);
  // The server's user must be able to read the folder.
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  if (has_ == equipment::small_disk) {
    // MariaDB's log alone takes 96 MB; MySQL with its binary log and its dictionary more than 500.
    disk_.emplace(folder_.path(), database == "mysql"      ? "896m"
                                  : database == "mariadb"  ? "192m"
                                  : database == "postgres" ? "64m"
                                                           : "8m");
  }
  std::optional<server_clock::preload> preloaded;
  if (has_ == equipment::clock) {
    clock_.emplace((folder_.path() / "clock").string());
    preloaded.emplace(*clock_);
  }
  if (database == "sqlite") url_ = "sqlite:" + (folder_.path() / "database").string();
  if (database == "postgres") start_postgres();
  if (has_mysql_dialect(database)) start_mysql();
  if (database == "galera") start_cluster();
  begin_step("migrate " + database);
  migrator{url_}.up();
}

void site::start_postgres() {
  server_ = disk_ ? make_own_postgres_on_small_disk(folder_.path()) : make_own_postgres();
  if (has_ != equipment::asynchronous_standby && has_ != equipment::synchronous_standby) {
    url_ = server_->url();
    if (has_ == equipment::pooler) {
      pooler_.emplace(socket_folder(*server_));
      proxied_url_ = pooler_->url();
      return;
    }
    proxy_.emplace(socket_folder(*server_) + "/.s.PGSQL.5432");
    proxied_url_ = "postgresql://postgres@127.0.0.1:" + std::to_string(proxy_->port()) + "/postgres";
    return;
  }
  // Servers come and go; two links stay, and each leads to the folder of one of them.
  const auto link = (folder_.path() / "server-").string();
  url_ =
      "postgresql:///postgres?user=postgres&target_session_attrs=read-write&host=" + link + "0," + link + '1';
  std::filesystem::create_directory_symlink(socket_folder(*server_), link + '0');
  next_link_ = 1;
  add_standby();
}

void site::start_mysql() {
  server_ = disk_ ? make_own_mysql(database_, {}, folder_.path()) : make_own_mysql(database_);
  url_ = server_->url();
  // The clients connect as an ordinary user, to whom read_only applies. Their connections are made later.
  const std::string strong = database_ == "mysql" ? "SUPER, CONNECTION_ADMIN" : "READ ONLY ADMIN";
  session()->run("REVOKE " + strong + " ON *.* FROM rowlock@'%'");
  // mysql://rowlock:rowlock@127.0.0.1:PORT/rowlock_test
  const auto port = url_.rfind(':') + 1;
  const auto slash = url_.find('/', port);
  proxy_.emplace(url_.substr(port, slash - port));
  proxied_url_ = url_.substr(0, port) + std::to_string(proxy_->port()) + url_.substr(slash);
}

void site::start_cluster() {
  nodes_.emplace();
  nodes_->repair();
  auto first = nodes_->connect(1);
  first.run("DROP DATABASE rowlock_test");
  first.run("CREATE DATABASE rowlock_test");
  url_ = places(false).front().url;
}

std::vector<site::place> site::places(bool proxied) const {
  const auto& url = proxied ? proxied_url_ : url_;
  if (!nodes_) return {{url, url_}, {url, url}};
  // The URL of each place begins with another node. mysql://rowlock:rowlock@127.0.0.1:PORT/rowlock_test
  const auto address = [this](int node) {
    const auto one = nodes_->url(node);
    return one.substr(one.find('@') + 1, one.rfind('/') - one.find('@') - 1);
  };
  std::vector<place> all;
  for (const int node : {1, 2, 3}) {
    auto three = nodes_->url(node);
    three.insert(three.rfind('/'), ',' + address(node % 3 + 1) + ',' + address((node + 1) % 3 + 1));
    all.push_back({three, nodes_->url(node)});
  }
  return all;
}

std::unique_ptr<sql_session> site::session() const {
  if (!nodes_) return sql_session::open(url_);
  auto made = sql_session::open(nodes_->url(1));
  made->run("SET SESSION wsrep_sync_wait = 7");
  return made;
}

void site::go_on() {
  if (server_) server_->go_on();
}

void site::add_standby() {
  begin_step("make a standby");
  standby_ = make_own_postgres_standby(*server_);
  const auto link = folder_.path() / ("server-" + std::to_string(next_link_));
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(socket_folder(*standby_), link);
  next_link_ = 1 - next_link_;
  const auto primary = sql_session::open(server_->url());
  until("the standby follows", [&] {
    return primary->number("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == 1;
  });
  if (has_ != equipment::synchronous_standby) return;
  primary->run("ALTER SYSTEM SET synchronous_standby_names = '*'");
  primary->run("SELECT pg_reload_conf()");
  until("the standby is synchronous", [&] {
    return primary->number("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1;
  });
}

void site::fail_over(std::chrono::milliseconds behind) {
  if (behind > 0ms) {
    const auto sender = sql_session::open(server_->url())->number("SELECT pid FROM pg_stat_replication");
    ::kill(static_cast<pid_t>(sender), SIGSTOP);
    pause(behind);
  }
  begin_step("kill the primary");
  server_->kill();
  begin_step("promote the standby");
  sql_session::open(standby_->url())->run("SELECT pg_promote(true, 60)");
  server_ = std::move(standby_);
}

void site::step_clock(std::chrono::seconds by) {
  const char* seconds = database_ == "postgres" ? "SELECT extract(epoch FROM clock_timestamp())::bigint"
                                                : "SELECT unix_timestamp(sysdate())";
  clock_->set_ahead(clock_->ahead() + by);
  const auto server = session();
  until("the server's clock is " + std::to_string(clock_->ahead().count()) + " s ahead", [&] {
    const auto ahead = server->number(seconds) - std::time(nullptr) - clock_->ahead().count();
    return ahead >= -1 && ahead <= 1;
  });
}

std::int64_t site::number(const std::string& sql) {
  return session()->number(replace_all(sql, "@", "rowlock_"));
}

}  // namespace rowlock::test
