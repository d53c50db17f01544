#include "store/sqlite/sqlite_session.hpp"

#include "store/decode.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite/sqlite_schema.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

namespace rowlock::store {
namespace {

using namespace std::chrono_literals;

// A request, which the client soon retries, and a new lease give up if one transaction has kept the write lock
// for this time. They may need twice this time to notice that.
constexpr auto wait_limit_of_a_request = 25ms;
constexpr auto wait_limit_of_a_lease = 200ms;

}  // namespace

// This machine's clock is the database's. SQLite itself shows only milliseconds of it.
token sqlite_session::clock_token() {
  const auto start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
  return model::clock_token(
      std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now() - start));
}

sqlite_session::sqlite_session(const std::string& path, std::shared_ptr<const sql_catalog> catalog,
                               const store_options& options)
    : sql_session{options, "--url sqlite:" + path},
      connection_{path, std::move(catalog), options.statement_timeout, missing_file::refuse,
                  options.read_only},
      file_{path},
      watch_{path, sqlite3_filename_wal(sqlite3_db_filename(connection_.handle(), "main"))} {
  // The file may have been replaced after the connection opened it, and before file_ read its identity.
  int moved = 0;
  sqlite3_file_control(connection_.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0)
    throw error(errc::unreachable, fmt::format("the file {} was replaced while it was opened", path));
  check_schema_version(read_schema_state(connection_, options.prefix), options, connection_.path(),
                       url_option());
  if (!options.read_only) connection_.use_wal();
  seen_version_ = data_version();
  // Only now has the connection certainly opened its side files. A session that only reads may have none.
  if (!options.read_only) {
    file_.watch_side_files(sqlite3_filename_wal(sqlite3_db_filename(connection_.handle(), "main")));
  }
}

// The last connection to a file writes the log into the file when it closes. A log that was deleted must not
// be written: it may be older than what others have written to the file since.
sqlite_session::~sqlite_session() {
  if (file_.flaw() == nullptr) return;
  sqlite3_db_config(connection_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void sqlite_session::check_file(bool outcome_unknown) const {
  const char* const flaw = file_.flaw();
  if (flaw == nullptr) return;
  throw error(errc::unreachable, fmt::format("the file {} {}; rowlock reconnects", connection_.path(), flaw),
              {}, outcome_unknown);
}

// Requires the write lock. The log may have been deleted, with the latest tokens in it, while no session had the file
// open, and others may have written to a new one since. So the first transaction of each session raises the floor. What
// is deleted later, check_file() notices.
void sqlite_session::begin_write() {
  check_file(false);
  if (!has_written_) connection_.query("raise_floor", clock_token()).run();
}

sqlite_session::writing::writing(sqlite_session& session, durability how)
    : session_{session}, transaction_{std::in_place, session.connection_, how} {
  session_.begin_write();
}

sqlite_session::writing::writing(sqlite_session& session, durability how,
                                 std::chrono::milliseconds wait_limit)
    : session_{session} {
  if (!session_.take_write_lock(how, wait_limit)) return;
  transaction_.emplace(session_.connection_, std::adopt_lock);
  session_.begin_write();
}

bool sqlite_session::take_write_lock(durability how, std::chrono::milliseconds wait_limit) {
  connection_.set_durability(how);
  const auto until = std::chrono::steady_clock::now() + connection_.timeout();
  for (std::optional<std::int64_t> seen; !connection_.take_write_lock(wait_limit);) {
    const auto version = data_version();
    if (seen == version || std::chrono::steady_clock::now() >= until) return false;
    seen = version;
  }
  return true;
}

void sqlite_session::writing::finish() {
  transaction_->commit();
  session_.has_written_ = true;
  session_.check_file(true);
}

// ---- statements --------------------------------------------------------------------------------------

// Takes no lock.
void sqlite_session::read(const std::string& statement, sql_values values, extent, const rows_reader& use) {
  use(connection_.query(statement, values));
  connection_.throw_if_written();
}

std::int64_t sqlite_session::write(const std::string& statement, sql_values values, durability how) {
  writing transaction{*this, how};
  const auto changed = connection_.query(statement, values).run();
  transaction.finish();
  return changed;
}

std::int64_t sqlite_session::write_recording(const std::string& statement, sql_values values) {
  writing transaction{*this, durability::durable};
  const auto changed = connection_.query(statement, values).run();
  if (changed == 0) return 0;
  connection_.query("change_recordings").run();
  transaction.finish();
  return changed;
}

// ---- the state of the database -----------------------------------------------------------------------

database_state sqlite_session::state_now() {
  auto query = connection_.query("read_database_state");
  if (!query.next()) throw no_meta_row();
  return store::read_database_state(query, file_.identity());
}

database_state sqlite_session::read_database_state() {
  check_file(false);
  return state_now();
}

// SQLite has no table that a crash empties, and needs none. A crash of the host may lose asynchronous
// commits, but every client that was told of them was on that host, too. So the marker is written once. A
// file that was restored or copied has another identity.
database_state sqlite_session::record_database_state() {
  const auto settled = [](const database_state& now) {
    return !now.marker.empty() && now.identity == now.recorded_identity;
  };
  if (database_state now = read_database_state(); settled(now)) return now;
  writing transaction{*this, durability::durable};
  connection_.query("write_marker").run();
  if (database_state now = state_now(); now.identity != now.recorded_identity) {
    const auto floor = next_floor();
    connection_.query("raise_epoch", model::epoch_of(floor), floor).run();
    connection_.query("change_identity", now.identity).run();
    connection_.query("lengthen_leases").run();
  }
  database_state now = state_now();
  transaction.finish();
  return now;
}

token sqlite_session::next_floor() {
  auto query = connection_.query("read_floors");
  if (!query.next()) throw no_meta_row();
  return model::next_floor(model::epoch_of(query.integer("epoch_floor")), query.integer("token_floor"),
                           clock_token());
}

std::int64_t sqlite_session::raise_epoch(token above) {
  writing transaction{*this, durability::durable};
  const auto floor = std::max(next_floor(), model::floor_above(above));
  connection_.query("raise_epoch", model::epoch_of(floor), floor).run();
  transaction.finish();
  return model::epoch_of(floor);
}

// ---- leases ------------------------------------------------------------------------------------------

void insert_lease(sqlite_connection& connection, const lease_record& lease) {
  auto query = connection.query("create_lease", lease.id, lease.client, lease.host, lease.pid,
                                lease.application, lease.ttl, lease.user, lease.program);
  if (query.run() > 0) return;
  throw error(errc::database,
              fmt::format("the lease {} exists already and has expired", lease.id.to_string()));
}

void sqlite_session::create_lease(const lease_record& lease) {
  writing transaction{*this, durability::durable, wait_limit_of_a_lease};
  if (!transaction) connection_.fail(SQLITE_BUSY);
  insert_lease(connection_, lease);
  transaction.finish();
}

renewal_reply sqlite_session::renew(std::span<const lease_id> leases) {
  renewal_reply reply;
  writing transaction{*this, durability::durable};
  for (const auto& id : leases) {
    auto query = connection_.query("renew", id);
    if (query.next()) reply.renewed.push_back({id, query.integer(0)});
  }
  reply.database_state = state_now();
  transaction.finish();
  return reply;
}

std::vector<lease_id> sqlite_session::kill(std::span<const lease_id> leases, std::chrono::microseconds skew) {
  std::vector<lease_id> killed;
  std::copy_if(leases.begin(), leases.end(), std::back_inserter(killed),
               [&](const lease_id& id) { return connection_.query("find_killable", id, skew).next(); });
  if (killed.empty()) return killed;
  writing transaction{*this, durability::durable};
  if (const auto now = state_now(); now.identity != now.recorded_identity) return {};
  for (const auto& id : killed) connection_.query("shorten", id, skew).run();
  std::erase_if(killed, [&](const lease_id& id) { return connection_.query("kill", id, skew).run() == 0; });
  transaction.finish();
  return killed;
}

void sqlite_session::end(std::span<const lease_id> leases) {
  writing transaction{*this, durability::durable};
  for (const auto& id : leases) connection_.query("end", id).run();
  transaction.finish();
}

// ---- holds -------------------------------------------------------------------------------------------

std::vector<hold_status> sqlite_session::find(std::span<const hold_query> holds) {
  std::vector<hold_status> result;
  result.reserve(holds.size());
  sqlite_transaction snapshot{connection_};
  std::set<std::string_view> known;  // the names for which takeover_in was read
  for (const auto& wanted : holds) {
    auto& status = result.emplace_back();
    status.hold = wanted.hold;
    auto found = connection_.query("find", wanted.name, wanted.hold, !known.contains(wanted.name));
    if (found.next()) read_status(found, status);
    if (status.takeover_in) known.insert(wanted.name);
  }
  share_takeovers(holds, result);
  check_file(false);  // a client takes the answer "held" for a grant
  return result;
}

// ---- fast path ---------------------------------------------------------------------------------------

std::vector<grant> sqlite_session::acquire(std::span<const acquire_item> requests) {
  std::vector<grant> grants;
  writing transaction{*this, durability::durable, wait_limit_of_a_request};
  if (!transaction) return grants;
  if (const auto now = state_now(); now.identity != now.recorded_identity) return grants;
  std::unordered_set<std::string> refused;  // names whose later requests must not pass an earlier one
  for (const auto& request : requests) {
    if (refused.contains(request.name)) continue;
    const bool shared = request.mode == model::lock_mode::shared;
    const auto granted = shared ? acquire_shared(request) : acquire_exclusive(request);
    if (granted) {
      grants.push_back({request.hold, *granted});
    } else if (shared) {
      refused.insert(request.name);
    }
  }
  if (!grants.empty()) transaction.finish();
  return grants;
}

std::vector<grant> sqlite_session::acquire_all(std::span<const acquire_item> requests) {
  std::vector<grant> grants;
  writing transaction{*this, durability::durable, wait_limit_of_a_request};
  if (!transaction) return grants;
  if (const auto now = state_now(); now.identity != now.recorded_identity) return grants;
  for (const auto& request : requests) {
    const auto granted = acquire_exclusive(request);
    if (!granted) return {};
    grants.push_back({request.hold, *granted});
  }
  transaction.finish();
  return grants;
}

std::optional<token> sqlite_session::acquire_exclusive(const acquire_item& request) {
  auto query = connection_.query("acquire", request.name, request.lease, request.hold,
                                 to_string(request.kind), request.capacity, request.fair);
  if (!query.next()) return {};
  return query.integer(0);
}

std::optional<token> sqlite_session::acquire_shared(const acquire_item& request) {
  auto query = connection_.query("acquire_shared", request.name, request.hold, request.weight,
                                 to_string(request.kind), request.capacity, request.fair);
  if (!query.next()) return {};
  const token granted = query.integer(0);
  connection_.query("edit_add_permits", request.name, request.hold, request.lease, request.weight, granted)
      .run();
  return granted;
}

std::vector<hold_id> sqlite_session::release(std::span<const release_item> requests, durability how) {
  std::vector<hold_id> released;
  writing transaction{*this, how, wait_limit_of_a_request};
  if (!transaction) return released;
  for (const auto& request : requests) {
    const bool shared = request.mode == model::lock_mode::shared;
    if (!(shared ? release_shared(request) : release_exclusive(request))) continue;
    if (request.ends_lease) connection_.query("edit_end_leases", request.lease).run();
    released.push_back(request.hold);
  }
  if (!released.empty()) transaction.finish();
  return released;
}

bool sqlite_session::release_exclusive(const release_item& request) {
  return connection_.query("release", request.name, request.lease, request.hold).run() > 0;
}

bool sqlite_session::release_shared(const release_item& request) {
  auto query = connection_.query("release_shared", request.name, request.lease, request.hold);
  if (!query.next()) return false;
  connection_.query("release_shared_weight", request.name, query.integer(0)).run();
  return true;
}

// ---- upkeep ------------------------------------------------------------------------------------------

std::int64_t sqlite_session::collect(std::chrono::milliseconds idle, std::size_t limit) {
  const std::int64_t age = std::chrono::microseconds{idle}.count();
  std::vector<std::string> names;
  for (auto query = connection_.query("collect_find", limit, age); query.next();) {
    names.push_back(query.text(0));
  }
  if (names.empty()) return 0;
  writing transaction{*this, durability::durable};
  std::int64_t collected = 0;
  token highest = 0;
  for (const auto& name : names) {
    auto query = connection_.query("collect_delete", name, age);
    if (!query.next()) continue;
    highest = std::max(highest, query.integer(0));
    ++collected;
  }
  connection_.query("collect_floor", highest).run();
  transaction.finish();
  return collected;
}

}  // namespace rowlock::store
