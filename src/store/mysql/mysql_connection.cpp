#include "store/mysql/mysql_connection.hpp"

#include "store/mysql/mysql_error.hpp"

#include <fmt/format.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace rowlock::store {

namespace {

// A host that vanished is noticed; a Unix socket takes none of these, and needs none.
void keep_alive(int socket, std::chrono::milliseconds limit) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  const int seconds = static_cast<int>(std::max<std::int64_t>(1, limit.count() / 1000));
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 4));
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// In one block several statements may have a value of the same name: :name becomes :name_7.
std::string with_numbered_names(std::string sql, mysql_values& values, std::size_t number) {
  const auto suffix = fmt::format("_{}", number);
  for (auto& given : values) {
    const auto name = ":" + given.name;
    for (auto at = sql.find(name); at != std::string::npos; at = sql.find(name, at + name.size())) {
      const auto end = at + name.size();
      if (end == sql.size() || !is_name_char(sql[end])) sql.insert(end, suffix);
    }
    given.name += suffix;
  }
  return sql;
}

}  // namespace

struct mysql_connection::driver {
  soci::session session;

  explicit driver(const std::string& connect_string) : session{soci::mysql, connect_string} {}

  int socket() {
    return static_cast<int>(static_cast<soci::mysql_session_backend*>(session.get_backend())->conn_->net.fd);
  }
};

mysql_connection::mysql_connection(const mysql_endpoint& endpoint, const sql_catalog& catalog,
                                   std::chrono::milliseconds connect_timeout,
                                   std::chrono::milliseconds read_timeout)
    : endpoint_{endpoint}, catalog_{catalog} {
  try {
    driver_ = std::make_unique<driver>(endpoint.connect_string(connect_timeout, read_timeout));
  } catch (const std::exception& cause) {
    const auto problem = mysql_connect_error(cause);
    throw error(problem.code(), endpoint.scrub(problem.what()), problem.database_code());
  }
  socket_ = ::fcntl(driver_->socket(), F_DUPFD_CLOEXEC, 3);
  if (socket_ < 0) throw error(errc::internal, "no file descriptor is left for the connection");
  keep_alive(socket_, read_timeout.count() > 0 ? read_timeout : std::chrono::seconds{30});
}

mysql_connection::~mysql_connection() {
  // To say goodbye could take as long as to read an answer.
  if (broken_) interrupt();
  driver_.reset();
  ::close(socket_);
}

std::optional<std::int64_t> mysql_connection::local_server() const {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(socket_, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return {};
  ucred server{};
  size = sizeof server;
  if (::getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) return 0;
  return server.pid;
}

void mysql_connection::interrupt() noexcept {
  ::shutdown(socket_, SHUT_RDWR);
}

template <class Work>
auto mysql_connection::guarded(std::string_view doing, const Work& work) {
  check_usable(doing);
  try {
    return work();
  } catch (const std::exception& cause) {
    fail(cause, doing);
  }
}

mysql_rows mysql_connection::run(std::string_view doing, const std::string& sql, std::size_t columns,
                                 const mysql_values& values) {
  return guarded(doing, [&] {
    soci::statement statement{driver_->session};
    std::vector<std::string> texts(columns);
    std::vector<soci::indicator> known(columns, soci::i_ok);
    for (std::size_t i = 0; i < columns; ++i) statement.exchange(soci::into(texts[i], known[i]));
    for (const auto& given : values) {
      std::visit([&](const auto& value) { statement.exchange(soci::use(value, given.name)); }, given.value);
    }
    statement.alloc();
    statement.prepare(sql);
    statement.define_and_bind();
    mysql_rows rows;
    for (bool more = statement.execute(true); more; more = statement.fetch()) {
      auto& row = rows.emplace_back();
      row.reserve(columns);
      for (std::size_t i = 0; i < columns; ++i) {
        row.push_back(known[i] == soci::i_null ? std::nullopt : std::optional{texts[i]});
      }
    }
    if (columns == 0) matched_ = statement.get_affected_rows();
    return rows;
  });
}

mysql_rows mysql_connection::read(const std::string& query, std::size_t columns, const mysql_values& values) {
  return run(query, catalog_[query], columns, values);
}

std::int64_t mysql_connection::write(const std::string& query, const mysql_values& values) {
  run(query, catalog_[query], 0, values);
  return matched_;
}

std::int64_t mysql_connection::last_insert_id() {
  return guarded("last_insert_id", [&] {
    long long id = 0;
    driver_->session.get_last_insert_id("", id);
    return static_cast<std::int64_t>(id);
  });
}

void mysql_connection::execute(std::string_view doing, const std::string& sql) {
  run(doing, sql, 0, {});
}

void mysql_connection::write_all(std::string_view doing, std::string_view before,
                                 std::span<const mysql_statement> statements, std::string_view after) {
  if (!blocks_) {
    if (!before.empty()) execute(doing, std::string{before});
    for (const auto& each : statements) write(each.query, each.values);
    if (!after.empty()) execute(doing, std::string{after});
    return;
  }
  std::string sql = "BEGIN NOT ATOMIC\n";
  mysql_values values;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) sql += fmt::format("{};\n", text);
  };
  add(before);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    auto own = statements[i].values;
    add(with_numbered_names(catalog_[statements[i].query], own, i));
    values.insert(values.end(), own.begin(), own.end());
  }
  add(after);
  run(doing, sql + "END", 0, values);
}

void mysql_connection::rollback() noexcept {
  if (broken_) return;
  try {
    execute("rollback", "ROLLBACK");
  } catch (const std::exception&) {
    // Whatever the server still holds of it ends with the connection.
    broken_ = true;
    interrupt();
  }
}

void mysql_connection::check_usable(std::string_view doing) const {
  if (broken_) {
    throw error(errc::unreachable, fmt::format("{}: the connection to MySQL broke before", doing));
  }
}

void mysql_connection::fail(const std::exception& cause, std::string_view doing) {
  const auto problem = mysql_error(cause, doing);
  if (problem.code() == errc::unreachable) {
    broken_ = true;
    interrupt();
  }
  throw error(problem.code(), endpoint_.scrub(problem.what()), problem.database_code(),
              problem.outcome_unknown());
}

}  // namespace rowlock::store
