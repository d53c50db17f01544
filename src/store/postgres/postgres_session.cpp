// Running statements, the state of the database, leases, and the look for holds.
#include "store/postgres/postgres_session.hpp"

#include "store/decode.hpp"
#include "store/postgres/postgres_transaction.hpp"

#include <algorithm>

namespace rowlock::store {

namespace {

// For statements that read whole tables. A script is one transaction, so the setting ends with it.
constexpr auto with_scans = "SELECT set_config('enable_seqscan', 'on', true);\n";

postgres_array ids(std::span<const lease_id> leases) {
  postgres_array array;
  for (const auto& lease : leases) array.add(lease);
  return array;
}

}  // namespace

postgres_session::postgres_session(std::shared_ptr<const postgres_context> context, connect_watch& watch)
    : sql_session{context->options},
      context_{std::move(context)},
      opened_{open_connection(*context_, context_->options.statement_timeout, watch)} {
  if (is_pooled() && context_->listen_conninfo) {
    listener_ = std::make_unique<postgres_listener>(*context_, place_of(connection_));
  }
  const connect_watch::step step{watch, [&] { connection_.interrupt(); }};
  check_schema_version(read_schema_state(connection_, facts_.has_meta), context_->options,
                       where(context_->options));
}

// ---- statements --------------------------------------------------------------------------------------

void postgres_session::read(const std::string& statement, sql_values values, extent how,
                            const rows_reader& use) {
  use(connection_.script(statement, connection_.settings() + (how == extent::all ? with_scans : "") +
                                        connection_.execute_texts(statement, postgres_texts(values))));
}

std::int64_t postgres_session::write(const std::string& statement, sql_values values, durability) {
  const auto script = connection_.settings() + connection_.execute_texts(statement, postgres_texts(values));
  return connection_.script(statement, script).affected();
}

// ---- the state of the database -----------------------------------------------------------------------

database_state postgres_session::read_database_state() {
  auto found = connection_.call(context_->options.read_only ? "read_meta" : "read_database_state");
  if (!found.next()) throw no_meta_row();
  return store::read_database_state(found, found.text("identity"));
}

// `decide` receives the locked row of meta, and commits the transaction.
template <class Decide>
auto postgres_session::with_meta(const std::string& verb, Decide decide) {
  const auto script = connection_.begin() + connection_.execute("take_meta");
  postgres_transaction transaction{connection_};
  auto meta = connection_.script(verb, script);
  if (!meta.next()) throw no_meta_row();
  auto result = decide(std::as_const(meta));
  transaction.is_over();
  return result;
}

database_state postgres_session::record_database_state() {
  return with_meta("record_database_state", [&](const rows& meta) {
    std::string script;
    if (meta.boolean("moved")) {
      const auto floor = next_floor(meta);
      script = connection_.execute("lengthen_leases") +
               connection_.execute("raise_epoch", model::epoch_of(floor), floor) +
               connection_.execute("change_identity");
    }
    script += connection_.execute("write_marker", lease_id::random()) + "COMMIT;\n" + connection_.settings() +
              connection_.execute("read_database_state");
    auto found = connection_.script("record_database_state", script);
    if (!found.next()) throw no_meta_row();
    return store::read_database_state(found, found.text("identity"));
  });
}

std::int64_t postgres_session::raise_epoch(token above) {
  return with_meta("raise_epoch", [&](const rows& meta) {
    const auto floor = std::max(next_floor(meta), model::floor_above(above));
    connection_.script("raise_epoch",
                       connection_.execute("raise_epoch", model::epoch_of(floor), floor) + "COMMIT");
    return model::epoch_of(floor);
  });
}

// ---- leases ------------------------------------------------------------------------------------------

void postgres_session::create_lease(const lease_record& lease) {
  const auto created = connection_.call("create_lease", lease.id, lease.client, lease.host, lease.pid,
                                        lease.application, lease.ttl, lease.user, lease.program);
  if (created.affected() != 1) {
    throw error(errc::database, "lease " + lease.id.to_string() + " exists already and has expired");
  }
}

renewal_reply postgres_session::renew(std::span<const lease_id> leases) {
  auto found = connection_.call("renew", ids(leases));
  if (!found.next()) throw no_meta_row();
  renewal_reply reply;
  reply.database_state = store::read_database_state(found, found.text("identity"));
  reply.renewed = read_renewals(found);
  return reply;
}

std::vector<lease_id> postgres_session::kill(std::span<const lease_id> leases,
                                             std::chrono::microseconds skew) {
  return read_leases(connection_.call("kill", ids(leases), skew));
}

void postgres_session::end(std::span<const lease_id> leases) {
  connection_.call("end", ids(leases));
}

// ---- holds -------------------------------------------------------------------------------------------

std::vector<hold_status> postgres_session::find(std::span<const hold_query> holds) {
  const auto ask = [&] {
    if (holds.size() == 1) return connection_.call("find_one", holds[0].name, holds[0].hold);
    postgres_batch<2> wanted;
    for (const auto& one : holds) wanted.add(one.name, one.hold);
    return connection_.call("find", wanted);
  };
  return read_statuses(ask(), holds);
}

// One statement reads the page of names, and what stands on the client's leases there.
held_page postgres_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  for (auto found = connection_.call("read_held", client, after, limit); found.next();) {
    if (found.null("hold_id")) {
      page.next = found.text("name");
    } else {
      page.entries.push_back(read_held_entry(found));
    }
  }
  return page;
}

}  // namespace rowlock::store
