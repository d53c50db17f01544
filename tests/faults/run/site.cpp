#include "site.hpp"

#include "step.hpp"

#include <rowlock/migrate.hpp>

namespace rowlock::test {

site::site(const std::string& database) : database_{database} {
  begin_step("start " + database);
  if (database == "sqlite") {
    url_ = "sqlite:" + (folder_.path() / "database").string();
  } else if (database == "postgres") {
    server_ = make_own_postgres();
    url_ = server_->url();
    // postgresql:///postgres?user=postgres&host=FOLDER
    proxy_.emplace(url_.substr(url_.find("host=") + 5) + "/.s.PGSQL.5432");
    proxied_url_ = "postgresql://postgres@127.0.0.1:" + std::to_string(proxy_->port()) + "/postgres";
  } else {
    server_ = make_own_mariadb();
    url_ = server_->url();
    // mysql://rowlock:rowlock@127.0.0.1:PORT/rowlock_test
    const auto port = url_.rfind(':') + 1;
    const auto slash = url_.find('/', port);
    proxy_.emplace(url_.substr(port, slash - port));
    proxied_url_ = url_.substr(0, port) + std::to_string(proxy_->port()) + url_.substr(slash);
  }
  begin_step("migrate " + database);
  migrator{url_}.up();
}

std::int64_t site::number(const std::string& sql) {
  return session()->number(replace_all(sql, "@", "rowlock_"));
}

}  // namespace rowlock::test
