// The database_state and leases.
#include "store/mysql/mysql_session.hpp"

#include "store/mysql/mysql_edit.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_transaction.hpp"
#include "store/schema_version.hpp"

#include <fmt/format.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace rowlock::store {

namespace {

// In one order, so that two transactions that take the same rows wait for each other in one direction only.
std::string sorted_ids(std::span<const lease_id> leases) {
  std::vector<lease_id> sorted{leases.begin(), leases.end()};
  std::sort(sorted.begin(), sorted.end());
  mysql_json list;
  for (const auto& lease : sorted) list.id(lease);
  return list.str();
}

// Of a row of take_meta.
std::int64_t next_epoch(const mysql_row& meta) {
  return model::next_epoch(model::epoch_of(integer_of(meta[1])), integer_of(meta[2]));
}

std::vector<lease_id> ids_of(const mysql_rows& rows) {
  std::vector<lease_id> result;
  for (const auto& row : rows) result.push_back(id_of<lease_id>(row[0]));
  return result;
}

}  // namespace

mysql_session::mysql_session(std::shared_ptr<const mysql_context> context, connect_watch& watch)
    : context_{std::move(context)},
      opened_{open_connection(*context_, context_->options.statement_timeout, watch)},
      waker_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (waker_ < 0) throw error(errc::internal, "no file descriptor is left for waking a waiter");
  try {
    const connect_watch::step step{watch, [&] { connection_.interrupt(); }};
    check_schema_version(read_schema_state(connection_), context_->options,
                         "database \"" + context_->endpoint.database() + '"');
    if (facts_.clustered) read_database_state();
  } catch (...) {
    ::close(waker_);
    throw;
  }
}

mysql_session::~mysql_session() {
  ::close(waker_);
}

// ---- the database_state
// ---------------------------------------------------------------------------------------

// A cluster that was bootstrapped from a node that was behind has its old identity, and not the latest
// tokens. Each of its nodes was started after the epoch was last raised; so was a node that only comes back,
// and an epoch too many does no harm.
bool mysql_session::is_unseen(const mysql_field& cluster_seen) const {
  return facts_.clustered && facts_.up_since >= integer_of(cluster_seen);
}

database_state mysql_session::world_of(const mysql_row& row) {
  // One that is never recorded: until the epoch is raised this session grants and kills nothing.
  identity_ = facts_.identity + (is_unseen(row[4]) ? " (started since)" : "");
  database_state now{.identity = identity_,
                     .recorded_identity = text_of(row[0]),
                     .epoch = model::epoch_of(integer_of(row[1])),
                     .skew = std::chrono::milliseconds{integer_of(row[3])},
                     .marker = text_of(row[2])};
  if (facts_.marker_stays && !now.marker.empty()) now.marker += fmt::format("@{}", facts_.up_since);
  return now;
}

database_state mysql_session::read_database_state() {
  const auto rows = connection_.read("read_database_state", 5);
  if (rows.empty()) throw missing_meta_row(context_->options);
  return world_of(rows[0]);
}

database_state mysql_session::record_database_state() {
  const auto settled = [](const database_state& now) {
    return !now.marker.empty() && now.identity == now.recorded_identity;
  };
  if (database_state now = read_database_state(); settled(now)) return now;
  mysql_transaction transaction{connection_, "record_database_state"};
  const auto recorded = connection_.read("take_meta", 4);
  if (recorded.empty()) throw missing_meta_row(context_->options);
  std::vector<mysql_statement> changes{{"write_marker", {{"value", lease_id::random().to_string()}}}};
  if (text_of(recorded[0][0]) != facts_.identity || is_unseen(recorded[0][3])) {
    changes.push_back({"lengthen_leases", {}});
    changes.push_back({"raise_epoch", {{"epoch", next_epoch(recorded[0])}}});
    changes.push_back(
        {"change_identity", {mysql_text("identity", facts_.identity), {"up_since", facts_.up_since}}});
  }
  transaction.commit(changes);
  return read_database_state();
}

std::int64_t mysql_session::raise_epoch(token above) {
  mysql_transaction transaction{connection_, "raise_epoch"};
  const auto recorded = connection_.read("take_meta", 4);
  if (recorded.empty()) throw missing_meta_row(context_->options);
  const auto epoch = std::max(next_epoch(recorded[0]), model::epoch_of(above) + 1);
  const mysql_statement last[] = {{"raise_epoch", {{"epoch", epoch}}}};
  transaction.commit(last);
  return epoch;
}

void mysql_session::set_skew(std::chrono::milliseconds skew) {
  connection_.write("set_skew", {{"skew_ms", std::int64_t{skew.count()}}});
}

// ---- leases ------------------------------------------------------------------------------------------

void mysql_session::create_lease(const lease_record& lease) {
  connection_.write("create_lease", lease_values(lease));
  if (connection_.last_insert_id() == 2) {
    throw error(errc::database, "lease " + lease.id.to_string() + " exists already and has expired");
  }
}

renewal_reply mysql_session::renew_one(const lease_id& lease) {
  const bool renewed = connection_.write("renew_one", {{"lease", lease.to_string()}}) == 1;
  renewal_reply reply;
  const auto rows =
      connection_.read("renewed_one", 7, {{"lease", renewed ? lease.to_string() : std::string{}}});
  if (rows.empty()) throw missing_meta_row(context_->options);
  reply.database_state = world_of(rows[0]);
  // Killed in between is as good as killed right after.
  if (rows[0][5]) reply.renewed.push_back({lease, integer_of(rows[0][6])});
  return reply;
}

renewal_reply mysql_session::renew(std::span<const lease_id> leases) {
  if (leases.size() == 1) return renew_one(leases[0]);
  renewal_reply reply;
  mysql_transaction transaction{connection_, "renew"};
  const auto living = ids_of(connection_.read("renew_take", 1, {{"leases", sorted_ids(leases)}}));
  if (!living.empty()) connection_.write("renew", {{"leases", sorted_ids(living)}});
  const auto rows = connection_.read("renewed", 7, {{"leases", sorted_ids(living)}});
  if (rows.empty()) throw missing_meta_row(context_->options);
  reply.database_state = world_of(rows[0]);
  for (const auto& row : rows) {
    if (row[5]) reply.renewed.push_back({id_of<lease_id>(row[5]), integer_of(row[6])});
  }
  transaction.commit();
  return reply;
}

std::vector<lease_id> mysql_session::kill(std::span<const lease_id> leases, std::chrono::microseconds skew) {
  const mysql_value grace{"skew_us", skew.count()};
  const auto identity = mysql_text("identity", identity_);
  if (leases.size() == 1) {
    const bool killed =
        connection_.write("kill_one", {{"lease", leases[0].to_string()}, grace, identity}) == 1;
    return killed ? std::vector{leases[0]} : std::vector<lease_id>{};
  }
  mysql_transaction transaction{connection_, "kill"};
  const auto expired =
      ids_of(connection_.read("kill_take", 1, {{"leases", sorted_ids(leases)}, grace, identity}));
  if (expired.empty()) return expired;
  const mysql_statement last[] = {{"end_leases", {{"leases", sorted_ids(expired)}}}};
  transaction.commit(last);
  return expired;
}

void mysql_session::end(std::span<const lease_id> leases) {
  if (!leases.empty()) connection_.write("end_leases", {{"leases", sorted_ids(leases)}});
}

}  // namespace rowlock::store
