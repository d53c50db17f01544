#include "store/sqlite/sqlite_connection.hpp"

#include "store/sqlite/sqlite_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace rowlock::store {

using namespace std::chrono_literals;

sqlite_connection::sqlite_connection(std::string path, std::shared_ptr<const sql_catalog> catalog,
                                     std::chrono::milliseconds timeout, missing_file missing, bool read_only)
    : path_{std::move(path)}, catalog_{std::move(catalog)}, timeout_{timeout}, wait_limit_{timeout} {
  try {
    open(missing, read_only);
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

sqlite_connection::~sqlite_connection() {
  for (const auto& [name, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(database_);
}

void sqlite_connection::open(missing_file missing, bool read_only) {
  check_sqlite_file(path_, missing, read_only);
  check_sqlite_names(path_);
  // NOMUTEX: a session is used by one thread at a time. PRIVATECACHE: a cache shared with the application's
  // connections would bring table locks, for which SQLite does not wait.
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  flags |= read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (missing == missing_file::create && !read_only) flags |= SQLITE_OPEN_CREATE;
  open_as(path_, flags);
  // If a file may not be written, SQLite opens it for reading only, and says so only if asked.
  if (!read_only && sqlite3_db_readonly(database_, "main") == 1) fail(SQLITE_READONLY);
  // The first read finds out whether the file is a database.
  const int code = sqlite3_exec(database_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  const bool lacks_files = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
  if (code != SQLITE_OK && !(read_only && lacks_files)) fail(code);
  if (code != SQLITE_OK) open_quiet(flags);
  execute("PRAGMA synchronous = FULL");
}

void sqlite_connection::open_quiet(int flags) {
  quiet_.emplace(path_);
  open_as(quiet_->uri(), flags | SQLITE_OPEN_URI);
  execute("SELECT count(*) FROM sqlite_master");
}

void sqlite_connection::open_as(const std::string& name, int flags) {
  sqlite3_close(std::exchange(database_, nullptr));
  const int code = sqlite3_open_v2(name.c_str(), &database_, flags, nullptr);
  if (code != SQLITE_OK) fail(database_ != nullptr ? sqlite3_extended_errcode(database_) : code);
  sqlite3_extended_result_codes(database_, 1);
  sqlite3_busy_handler(database_, on_busy, this);
}

void sqlite_connection::execute(const char* sql) {
  throw_if_interrupted();
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void sqlite_connection::execute_script(const std::string& sql) {
  throw_if_interrupted();
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  const std::string said = sqlite3_errmsg(database_);
  sqlite3_busy_handler(database_, on_busy, this);
  if (code == SQLITE_ERROR) {
    throw error(errc::schema,
                fmt::format("SQLite refused a statement of the migration of {}: {}; nothing of it was kept",
                            path_, said),
                std::to_string(code));
  }
  if (code != SQLITE_OK) throw sqlite_error(code, said, path_, *catalog_);
}

void sqlite_connection::set_durability(durability how) {
  if (how == durability_) return;
  // Not a prepared statement, because SQLite runs this pragma while it compiles it.
  execute(how == durability::durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  durability_ = how;
}

bool sqlite_connection::take_write_lock(std::chrono::milliseconds wait_limit) {
  throw_if_interrupted();
  wait_limit_ = std::min(wait_limit, timeout_);
  const int code = sqlite3_exec(database_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
  wait_limit_ = timeout_;
  if (code == SQLITE_OK) return true;
  if ((code & 0xff) != SQLITE_BUSY || interrupted_) fail(code);
  return false;
}

void sqlite_connection::use_wal() {
  std::string mode;
  const auto read = [](void* result, int, char** values, char**) {
    *static_cast<std::string*>(result) = values[0];
    return 0;
  };
  throw_if_interrupted();
  const auto turn_on = [&] {
    return sqlite3_exec(database_, "PRAGMA journal_mode = WAL", read, &mode, nullptr);
  };
  // If two connections turn on the log at once, SQLite refuses one of them immediately, without calling
  // on_busy().
  const auto since = std::chrono::steady_clock::now();
  int code = turn_on();
  for (int attempts = 0; (code & 0xff) == SQLITE_BUSY && wait_for_lock(attempts, since); ++attempts) {
    code = turn_on();
  }
  if (code != SQLITE_OK) fail(code);
  if (mode != "wal") {
    throw error(errc::database,
                fmt::format("{} cannot use write-ahead logging (its journal mode stays {}); its file "
                            "system may lack shared memory: use a local disk",
                            path_, mode));
  }
}

sqlite3_stmt* sqlite_connection::prepare(std::string_view name) {
  const auto found = statements_.find(name);
  if (found != statements_.end()) return found->second;
  const std::string& sql = (*catalog_)[name];
  // The map's entry is made first: if memory for it ran out later, nobody would finalize the statement.
  const auto place = statements_.emplace(name, nullptr).first;
  const int code = sqlite3_prepare_v3(database_, sql.c_str(), static_cast<int>(sql.size()) + 1,
                                      SQLITE_PREPARE_PERSISTENT, &place->second, nullptr);
  if (code == SQLITE_OK) return place->second;
  statements_.erase(place);
  fail(code);
}

void sqlite_connection::interrupt() noexcept {
  interrupted_ = true;
  sqlite3_interrupt(database_);
}

void sqlite_connection::throw_if_interrupted() const {
  if (interrupted_) throw sqlite_error(SQLITE_INTERRUPT, "interrupted", path_, *catalog_);
}

void sqlite_connection::throw_if_written() const {
  if (!quiet_ || !quiet_->changed()) return;
  throw error(
      errc::unreachable,
      fmt::format(
          "another process has begun to write to {} while it was read without locks, because this user "
          "may not create SQLite's files beside it; read it again",
          path_));
}

void sqlite_connection::fail(int code, bool outcome_unknown) {
  // SQLite reports an interrupted wait for the lock as SQLITE_BUSY.
  if (interrupted_) code = SQLITE_INTERRUPT;
  const char* said = database_ != nullptr && sqlite3_extended_errcode(database_) == code
                         ? sqlite3_errmsg(database_)
                         : sqlite3_errstr(code);
  throw sqlite_error(code, said, path_, *catalog_, outcome_unknown);
}

int sqlite_connection::on_busy(void* connection, int attempts) {
  auto& self = *static_cast<sqlite_connection*>(connection);
  if (attempts == 0) self.busy_since_ = std::chrono::steady_clock::now();
  return self.wait_for_lock(attempts, self.busy_since_) ? 1 : 0;
}

bool sqlite_connection::wait_for_lock(int attempts, std::chrono::steady_clock::time_point since) const {
  if (interrupted_ || std::chrono::steady_clock::now() - since >= wait_limit_) return false;
  // Nothing reports when the lock is free. A durable commit takes a tenth of a millisecond to a few milliseconds.
  std::this_thread::sleep_for(std::min<std::chrono::microseconds>(100us + attempts * 50us, 1ms));
  return true;
}

}  // namespace rowlock::store
