// The state of the database, and leases.
#include "store/postgres/postgres_session.hpp"

#include "store/decode.hpp"

#include <algorithm>

namespace rowlock::store {

namespace {

postgres_array ids(std::span<const lease_id> leases) {
  postgres_array array;
  for (const auto& lease : leases) array.add(lease);
  return array;
}

}  // namespace

postgres_session::postgres_session(std::shared_ptr<const postgres_context> context, connect_watch& watch)
    : context_{std::move(context)},
      opened_{open_connection(*context_, context_->options.statement_timeout, watch)} {
  if (is_pooled() && context_->listen_conninfo) {
    listener_ = std::make_unique<postgres_listener>(*context_, place_of(connection_));
  }
  const connect_watch::step step{watch, [&] { connection_.interrupt(); }};
  check_schema_version(read_schema_state(connection_, facts_.has_meta), context_->options,
                       where(context_->options));
}

database_state postgres_session::read_database_state() {
  auto found = connection_.call(context_->options.read_only ? "read_meta" : "read_database_state");
  if (!found.next()) throw missing_meta_row(context_->options);
  return store::read_database_state(found, found.text("identity"));
}

// `decide` receives the locked row of meta, and ends the transaction.
template <class Decide>
auto postgres_session::with_meta(const std::string& verb, Decide decide) {
  try {
    auto meta = connection_.script(verb, connection_.begin() + connection_.execute("take_meta"));
    if (!meta.next()) throw missing_meta_row(context_->options);
    return decide(std::as_const(meta));
  } catch (const error&) {
    connection_.rollback();
    throw;
  }
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
    if (!found.next()) throw missing_meta_row(context_->options);
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

void postgres_session::set_skew(std::chrono::milliseconds skew) {
  if (connection_.call("set_skew", skew).affected() == 0) throw missing_meta_row(context_->options);
}

void postgres_session::create_lease(const lease_record& lease) {
  const auto created = connection_.call("create_lease", lease.id, lease.client, lease.host, lease.pid,
                                        lease.application, lease.ttl, lease.user, lease.program);
  if (created.affected() != 1) {
    throw error(errc::database, "lease " + lease.id.to_string() + " exists already and has expired");
  }
}

renewal_reply postgres_session::renew(std::span<const lease_id> leases) {
  auto found = connection_.call("renew", ids(leases));
  if (!found.next()) throw missing_meta_row(context_->options);
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

}  // namespace rowlock::store
