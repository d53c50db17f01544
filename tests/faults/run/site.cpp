#include "site.hpp"

#include "step.hpp"

#include <rowlock/migrate.hpp>

#include <csignal>
#include <filesystem>

namespace rowlock::test {

namespace {

// The folder of a server's Unix socket. Its URL is postgresql:///postgres?user=postgres&host=FOLDER.
std::string socket_folder(const own_server& server) {
  return server.url().substr(server.url().find("host=") + 5);
}

}  // namespace

site::site(const std::string& database, standby second) : database_{database}, second_{second} {
  begin_step("start " + database);
  if (database == "sqlite") url_ = "sqlite:" + (folder_.path() / "database").string();
  if (database == "postgres") start_postgres();
  if (database == "mariadb") start_mariadb();
  begin_step("migrate " + database);
  migrator{url_}.up();
}

void site::start_postgres() {
  server_ = make_own_postgres();
  if (second_ == standby::none) {
    url_ = server_->url();
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

void site::start_mariadb() {
  server_ = make_own_mariadb();
  url_ = server_->url();
  // As an ordinary user, to whom read_only applies. Its connections are logged in later.
  session()->run("REVOKE READ ONLY ADMIN ON *.* FROM rowlock@'%'");
  // mysql://rowlock:rowlock@127.0.0.1:PORT/rowlock_test
  const auto port = url_.rfind(':') + 1;
  const auto slash = url_.find('/', port);
  proxy_.emplace(url_.substr(port, slash - port));
  proxied_url_ = url_.substr(0, port) + std::to_string(proxy_->port()) + url_.substr(slash);
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
  if (second_ != standby::synchronous) return;
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

std::int64_t site::number(const std::string& sql) {
  return session()->number(replace_all(sql, "@", "rowlock_"));
}

}  // namespace rowlock::test
