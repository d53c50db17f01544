#include "store/postgres/postgres_connection.hpp"

#include "store/postgres/postgres_dial.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace rowlock::store {

namespace {

std::unique_ptr<pqxx_compat::connection> connect(const postgres_conninfo& conninfo, connect_watch& watch,
                                                 std::string& warning) {
  auto raw = dial(conninfo, watch, warning);
  try {
    auto connection = pqxx_compat::adopt(raw.release());
    pqxx_compat::stay_broken(*connection);
    return connection;
  } catch (const std::exception& cause) {
    throw postgres_connect_error(conninfo.scrub(cause.what()));
  }
}

// What errors call the descriptor through which another thread interrupts the connection.
constexpr auto second_descriptor = "a second descriptor for the connection";

}  // namespace

postgres_connection::postgres_connection(const postgres_conninfo& conninfo, const sql_catalog& catalog,
                                         connect_watch& watch)
    : conninfo_{conninfo},
      catalog_{catalog},
      connection_{connect(conninfo, watch, warning_)},
      socket_{made_fd(::fcntl(connection_->sock(), F_DUPFD_CLOEXEC, 3), second_descriptor)} {}

postgres_connection::~postgres_connection() {
  // A receiver's destructor sends UNLISTEN and waits for the answer; a server that hangs would send none.
  if (broken_ || !receivers_.empty()) interrupt();
}

bool postgres_connection::has_own_backend(std::chrono::milliseconds limit) {
  auto backend = script("connect_backend", fmt::format("SET LOCAL statement_timeout = {};\n{}", limit.count(),
                                                       catalog_["connect_backend"]));
  return backend.next() && backend.integer(0) == connection_->backendpid();
}

std::string postgres_connection::execute_texts(const std::string& statement,
                                               const std::vector<std::string>& arguments) {
  if (is_pooled()) return with_arguments(catalog_[statement], arguments) + ";\n";
  prepare(statement);
  std::string text;
  for (const auto& argument : arguments) text += (text.empty() ? "(" : ",") + connection_->quote(argument);
  return "EXECUTE \"" + statement + '"' + text + (text.empty() ? ";\n" : ");\n");
}

postgres_rows postgres_connection::script(std::string_view doing, const std::string& sql) {
  return guarded(doing, [&](pqxx::nontransaction& work) { return work.exec(sql); });
}

void postgres_connection::rollback() noexcept {
  if (broken_) return;
  try {
    script("rollback", "ROLLBACK");
  } catch (const std::exception&) {
    // The transaction ends with the connection.
    break_connection();
  }
}

void postgres_connection::listen(const std::string& channel) {
  check_usable("listen");
  try {
    receivers_.push_back(std::make_unique<pqxx_compat::receiver>(*connection_, channel, heard_));
    if (!connection_->is_open()) throw pqxx::broken_connection{};
  } catch (const std::exception& cause) {
    fail(cause, "listen", false);
  }
}

void postgres_connection::drain() {
  check_usable("wait");
  try {
    connection_->get_notifs();
    if (!connection_->is_open()) throw pqxx::broken_connection{};
  } catch (const std::exception& cause) {
    fail(cause, "wait", false);
  }
}

// Makes the kernel drop what it has not delivered yet. Otherwise a closed socket would go on trying for
// minutes, and the server would execute a statement long after the client has abandoned it.
void postgres_connection::break_connection() noexcept {
  broken_ = true;
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  interrupt();
}

void postgres_connection::interrupt() noexcept {
  ::shutdown(socket_.get(), SHUT_RDWR);
}

void postgres_connection::prepare(const std::string& statement) {
  if (prepared_.contains(statement)) return;
  check_usable(statement);
  try {
    pqxx_compat::prepare(*connection_, statement, catalog_[statement]);
    prepared_.insert(statement);
  } catch (const std::exception& cause) {
    fail(cause, statement, false);
  }
}

void postgres_connection::check_usable(std::string_view doing) const {
  if (broken_) {
    throw error(errc::unreachable, fmt::format("{}: the connection to PostgreSQL broke before", doing));
  }
}

void postgres_connection::fail(const std::exception& cause, std::string_view doing, bool sent) {
  // An exception that is neither libpqxx's nor ours comes in the middle of an answer, so the connection may
  // be out of step with the server. The connection is broken first, before anything needs memory.
  const bool is_known = dynamic_cast<const pqxx::failure*>(&cause) || dynamic_cast<const error*>(&cause);
  if (!is_known) break_connection();
  const auto problem = postgres_error(cause, doing, catalog_);
  std::string text = problem.what();
  if (problem.code() == errc::unreachable) {
    break_connection();
    if (!warning_.empty()) text += fmt::format("; the server warned: {}", warning_);
  }
  throw error(problem.kind(), conninfo_.scrub(text), problem.database_code(),
              problem.outcome_unknown() && sent);
}

}  // namespace rowlock::store
