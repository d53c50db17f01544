// The database_state and leases.
#include "store/postgres/postgres_session.hpp"

#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_rows.hpp"

#include <sys/eventfd.h>

#include <algorithm>

namespace rowlock::store {

namespace {

postgres_array ids(std::span<const lease_id> leases) {
  postgres_array array;
  for (const auto& lease : leases) array.add_id(lease);
  return array;
}

// Of the row of take_meta.
std::int64_t next_epoch(const pqxx::row& meta) {
  return model::next_epoch(model::epoch_of(integer_of(meta["epoch_floor"])), integer_of(meta["now_s"]));
}

}  // namespace

postgres_session::postgres_session(std::shared_ptr<const postgres_context> context, connect_watch& watch)
    : context_{std::move(context)},
      opened_{open_connection(*context_, context_->options.statement_timeout, watch)},
      waker_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (waker_.get() < 0) throw error(errc::internal, "no file descriptor is left for waking a waiter");
  if (is_pooled() && context_->listen_conninfo) {
    listener_ = std::make_unique<postgres_listener>(*context_, place_of(connection_));
  }
  const connect_watch::step step{watch, [&] { connection_.interrupt(); }};
  check_schema_version(read_schema_state(connection_, facts_.has_meta), context_->options,
                       where(context_->options));
}

database_state postgres_session::read_database_state() {
  const auto rows = connection_.call("read_database_state");
  if (rows.empty()) throw missing_meta_row(context_->options);
  return world_of(rows[0]);
}

// `decide` gets the row of meta, held, and ends the transaction.
template <class Decide>
auto postgres_session::with_meta(const std::string& verb, Decide decide) {
  try {
    const auto rows = connection_.script(verb, connection_.begin() + connection_.execute("take_meta"));
    if (rows.empty()) throw missing_meta_row(context_->options);
    return decide(rows[0]);
  } catch (const error&) {
    connection_.rollback();
    throw;
  }
}

database_state postgres_session::record_database_state() {
  return with_meta("record_database_state", [&](const pqxx::row& meta) {
    std::string script;
    if (bool_of(meta["moved"])) {
      script = connection_.execute("lengthen_leases") +
               connection_.execute("raise_epoch", std::to_string(next_epoch(meta))) +
               connection_.execute("change_identity");
    }
    script += connection_.execute("write_marker", lease_id::random().to_string()) + "COMMIT;\n" +
              connection_.settings() + connection_.execute("read_database_state");
    const auto rows = connection_.script("record_database_state", script);
    if (rows.empty()) throw missing_meta_row(context_->options);
    return world_of(rows[0]);
  });
}

std::int64_t postgres_session::raise_epoch(token above) {
  return with_meta("raise_epoch", [&](const pqxx::row& meta) {
    const auto epoch = std::max(next_epoch(meta), model::epoch_of(above) + 1);
    connection_.script("raise_epoch", connection_.execute("raise_epoch", std::to_string(epoch)) + "COMMIT");
    return epoch;
  });
}

void postgres_session::set_skew(std::chrono::milliseconds skew) {
  if (connection_.call("set_skew", std::to_string(skew.count())).affected_rows() == 0)
    throw missing_meta_row(context_->options);
}

void postgres_session::create_lease(const lease_record& lease) {
  const auto result =
      connection_.call("create_lease", lease.id.to_string(), lease.client.to_string(), lease.host,
                       std::to_string(lease.pid), lease.application, std::to_string(lease.ttl.count()));
  if (result.affected_rows() != 1) {
    throw error(errc::database, "lease " + lease.id.to_string() + " exists already and has expired");
  }
}

renewal_reply postgres_session::renew(std::span<const lease_id> leases) {
  const auto rows = connection_.call("renew", ids(leases).str());
  if (rows.empty()) throw missing_meta_row(context_->options);
  renewal_reply reply;
  reply.database_state = world_of(rows[0]);
  for (const auto& row : rows) {
    if (!row[5].is_null()) reply.renewed.push_back({id_of<lease_id>(row[5]), integer_of(row[6])});
  }
  return reply;
}

std::vector<lease_id> postgres_session::kill(std::span<const lease_id> leases,
                                             std::chrono::microseconds skew) {
  std::vector<lease_id> killed;
  for (const auto& row : connection_.call("kill", ids(leases).str(), std::to_string(skew.count()))) {
    killed.push_back(id_of<lease_id>(row[0]));
  }
  return killed;
}

void postgres_session::end(std::span<const lease_id> leases) {
  connection_.call("end_leases", ids(leases).str());
}

}  // namespace rowlock::store
