// Running statements, the state of the database, leases, and the look for holds.
#include "store/mysql/mysql_session.hpp"

#include "store/decode.hpp"
#include "store/mysql/mysql_edit.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_transaction.hpp"
#include "store/schema_version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace rowlock::store {

namespace {

// Sorted, so that two transactions that take the same rows wait for each other in one direction only.
mysql_json sorted_ids(std::span<const lease_id> leases) {
  std::vector<lease_id> sorted{leases.begin(), leases.end()};
  std::sort(sorted.begin(), sorted.end());
  mysql_json list;
  for (const auto& lease : sorted) list.add(lease);
  return list;
}

}  // namespace

mysql_session::mysql_session(std::shared_ptr<const mysql_context> context, connect_watch& watch)
    : sql_session{context->options},
      context_{std::move(context)},
      opened_{open_connection(*context_, context_->options.statement_timeout, watch)} {
  const connect_watch::step step{watch, [&] { connection_.interrupt(); }};
  check_schema_version(read_schema_state(connection_), context_->options,
                       "database \"" + context_->endpoint.database() + '"');
  if (facts_.clustered) read_database_state();
}

// ---- statements --------------------------------------------------------------------------------------

void mysql_session::read(const std::string& statement, sql_values values, extent, const rows_reader& use) {
  use(connection_.read(statement, as_mysql(values)));
}

std::int64_t mysql_session::write(const std::string& statement, sql_values values, durability) {
  return connection_.write(statement, as_mysql(values));
}

std::int64_t mysql_session::write_recording(const std::string& statement, sql_values values) {
  mysql_transaction transaction{connection_, statement};
  const auto matched = transaction.write({statement, as_mysql(values)});
  if (matched == 0) return 0;
  const mysql_statement last[] = {{"change_recordings", {}}};
  transaction.commit(last);
  return matched;
}

std::int64_t mysql_session::prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                                          std::size_t limit) {
  const auto named = mysql_text("name", name);
  auto found = connection_.read("find_old_history", {named, {"keep", keep}, {"age_h", age}});
  const auto cut = found.next() ? found.integer("id") : 0;
  if (cut == 0) return 0;
  return connection_.write("prune_history", {named, {"cut", cut}, {"most", limit}});
}

// ---- the state of the database -----------------------------------------------------------------------

// Whether commits may be missing here. A cluster that was bootstrapped from a node that was behind keeps its
// identity but lacks the latest tokens. Each of its nodes was started after the epoch was last raised. So was
// a node that only rejoins; then the epoch is raised once too often, which is harmless.
bool mysql_session::is_unseen(std::int64_t cluster_seen) const {
  return facts_.clustered && up_since_ >= cluster_seen;
}

mysql_value mysql_session::identity() const {
  if (!answers_for_itself()) return mysql_text("identity", identity_);
  return {"identity", mysql_literals{context_->catalog["server_identity"]}};
}

database_state mysql_session::note_database_state(const rows& row) {
  if (!context_->options.read_only && row.boolean("is_read_only")) {
    throw error(
        errc::read_only,
        "read_only was switched on while this connection existed, so another server may have been promoted; "
        "rowlock grants nothing here, although this user may write");
  }
  // An identity_ that ends in "(started since)" is never recorded. So such a session grants and kills nothing
  // until it has read that the epoch was raised.
  if (answers_for_itself()) {
    server_ = row.text("server");
    up_since_ = row.integer("up_since");
  }
  identity_ = server_ + (is_unseen(row.integer("cluster_seen")) ? " (started since)" : "");
  auto now = store::read_database_state(row, identity_);
  if (facts_.marker_stays && !now.marker.empty()) now.marker += fmt::format("@{}", up_since_);
  return now;
}

database_state mysql_session::read_database_state() {
  auto found = connection_.read("read_database_state");
  if (!found.next()) throw no_meta_row();
  return note_database_state(found);
}

database_state mysql_session::record_database_state() {
  const auto settled = [](const database_state& now) {
    return !now.marker.empty() && now.identity == now.recorded_identity;
  };
  if (database_state now = read_database_state(); settled(now)) return now;
  mysql_transaction transaction{connection_, "record_database_state"};
  auto recorded = transaction.read({"take_meta", {}});
  if (!recorded.next()) throw no_meta_row();
  std::vector<mysql_statement> changes{{"write_marker", {{"value", lease_id::random()}}}};
  if (recorded.view("identity") != server_ || is_unseen(recorded.integer("cluster_seen"))) {
    changes.push_back({"lengthen_leases", {}});
    const auto floor = next_floor(recorded);
    changes.push_back({"raise_epoch", {{"epoch", model::epoch_of(floor)}, {"above", floor}}});
    changes.push_back({"change_identity", {mysql_text("identity", server_), {"up_since", up_since_}}});
  }
  transaction.commit(changes);
  return read_database_state();
}

std::int64_t mysql_session::raise_epoch(token above) {
  mysql_transaction transaction{connection_, "raise_epoch"};
  auto recorded = transaction.read({"take_meta", {}});
  if (!recorded.next()) throw no_meta_row();
  const auto floor = std::max(next_floor(recorded), model::floor_above(above));
  const mysql_statement last[] = {{"raise_epoch", {{"epoch", model::epoch_of(floor)}, {"above", floor}}}};
  transaction.commit(last);
  return model::epoch_of(floor);
}

// ---- leases ------------------------------------------------------------------------------------------

void mysql_session::create_lease(const lease_record& lease) {
  const mysql_statement statements[] = {{"create_lease", lease_values(lease)},
                                        {"lease_lives", {{"lease", lease.id}}}};
  if (auto lives = connection_.send("create_lease", {}, statements); lives.next() && lives.boolean(0)) return;
  throw error(errc::database, "lease " + lease.id.to_string() + " exists already and has expired");
}

renewal_reply mysql_session::renew_one(const lease_id& lease) {
  const mysql_value renewed{"lease", lease};
  return read_renewal(connection_.read("renew_one", {renewed}));
}

renewal_reply mysql_session::read_renewal(rows&& found) {
  if (!found.next()) throw no_meta_row();
  renewal_reply reply;
  reply.database_state = note_database_state(found);
  reply.renewed = read_renewals(found);
  return reply;
}

renewal_reply mysql_session::renew(std::span<const lease_id> leases) {
  if (leases.size() == 1) return renew_one(leases[0]);
  mysql_transaction transaction{connection_, "renew"};
  const auto living = read_leases(transaction.read({"renew_take", {{"leases", sorted_ids(leases)}}}));
  const mysql_value renewed{"leases", sorted_ids(living)};
  const mysql_statement rest[] = {{"renew", {renewed}}, {"renew_read", {renewed}}};
  auto reply = read_renewal(transaction.read(rest));
  transaction.commit();
  return reply;
}

std::vector<lease_id> mysql_session::kill(std::span<const lease_id> leases, std::chrono::microseconds skew) {
  const mysql_value grace{"skew_us", skew};
  const auto recorded = identity();
  if (leases.size() == 1) {
    if (connection_.write("kill_one", {{"lease", leases[0]}, grace, recorded}) == 1) return {leases[0]};
  }
  mysql_transaction transaction{connection_, "kill"};
  std::vector<lease_id> expired;
  std::vector<lease_id> too_long;
  for (auto taken = transaction.read({"kill_take", {{"leases", sorted_ids(leases)}, grace, recorded}});
       taken.next();) {
    (taken.boolean("is_expired") ? expired : too_long).push_back(taken.id<lease_id>("id"));
  }
  if (expired.empty() && too_long.empty()) return expired;
  const mysql_statement last[] = {{"renew", {{"leases", sorted_ids(too_long)}}},
                                  {"end", {{"leases", sorted_ids(expired)}}}};
  transaction.commit(last);
  return expired;
}

void mysql_session::end(std::span<const lease_id> leases) {
  if (!leases.empty()) connection_.write("end", {{"leases", sorted_ids(leases)}});
}

// ---- holds -------------------------------------------------------------------------------------------

std::vector<hold_status> mysql_session::find(std::span<const hold_query> holds) {
  if (holds.empty()) return {};
  mysql_json asked;
  std::set<std::string_view> known;
  for (const auto& wanted : holds)
    asked.add(wanted.name, wanted.hold, known.insert(wanted.name).second ? 1 : 0);
  const std::int64_t is_single = holds.size() == 1 ? 1 : 0;
  return read_statuses(connection_.read("find", {{"holds", asked}, {"is_single", is_single}}), holds);
}

}  // namespace rowlock::store
