// Grants and releases that are decided from the lock's row alone.
//
// MariaDB: one plain statement that waits for no row. Where a row of its batch is locked it fails with 1205
// at once, and changes nothing; then, and on MySQL, which cannot be told not to wait, the batch goes a longer
// way that skips locked rows.
//
// Shared ones write two tables, so they are a block of statements that skips locked rows by itself. MySQL
// knows no blocks outside of stored programs: there they are left to an edit.
#include "store/by_mode.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"
#include "store/mysql/mysql_transaction.hpp"

namespace rowlock::store {

namespace {

constexpr std::string_view row_is_locked = "1205";

// False when a row was locked.
template <class Statement>
bool unless_locked(Statement statement) {
  try {
    statement();
    return true;
  } catch (const error& failure) {
    if (failure.database_code() != row_is_locked) throw;
    return false;
  }
}

std::vector<hold_id> holds_of(const mysql_rows& rows) {
  std::vector<hold_id> holds;
  for (const auto& row : rows) holds.push_back(id_of<hold_id>(row[0]));
  return holds;
}

}  // namespace

std::vector<grant> mysql_session::acquire(std::span<const acquire_item> requests) {
  return by_mode(
      requests, [&](auto exclusive) { return acquire_exclusive(exclusive); },
      [&](auto shared) { return acquire_shared(shared); });
}

std::vector<grant> mysql_session::acquire_exclusive(std::span<const acquire_item> requests) {
  if (requests.empty()) return {};
  if (!connection_.takes_blocks()) return acquire_unlocked(requests);
  if (requests.size() == 1) return acquire_one(requests.front());
  mysql_list names, holds;
  mysql_choice kind, capacity, fair, lease, hold;
  for (const auto& request : requests) {
    const auto name = mysql_literal(request.name);
    names.add(name);
    holds.add(mysql_literal(request.hold));
    kind.add(name, mysql_literal(to_string(request.kind)));
    capacity.add(name, mysql_literal(request.capacity));
    fair.add(name, mysql_literal(std::int64_t{request.fair}));
    lease.add(name, mysql_literal(request.lease));
    hold.add(name, mysql_literal(request.hold));
  }
  mysql_rows granted;
  const bool done = unless_locked([&] {
    granted = connection_.read("acquire_plain", 2,
                               {{"names", names},
                                {"holds", holds},
                                {"kind", kind},
                                {"capacity", capacity},
                                {"fair", fair},
                                {"lease", lease},
                                {"hold", hold},
                                mysql_text("identity", identity_)});
  });
  return done ? grants_of(granted) : acquire_unlocked(requests);
}

std::vector<grant> mysql_session::acquire_one(const acquire_item& request) {
  std::int64_t matched = 0;
  unless_locked([&] {
    matched = connection_.write_prepared("acquire_one", {mysql_text("name", request.name),
                                                         {"kind", std::string{to_string(request.kind)}},
                                                         {"capacity", request.capacity},
                                                         {"fair", std::int64_t{request.fair}},
                                                         {"lease", request.lease.to_string()},
                                                         {"hold", request.hold.to_string()},
                                                         mysql_text("identity", identity_)});
  });
  if (matched == 0) return {};
  return {{request.hold, connection_.last_insert_id()}};
}

std::vector<grant> mysql_session::acquire_unlocked(std::span<const acquire_item> requests) {
  mysql_json batch;
  for (const auto& request : requests) {
    batch.row().hex(request.name).word(to_string(request.kind)).number(request.capacity);
    batch.id(request.lease).id(request.hold).number(request.fair ? 1 : 0).end_row();
  }
  const mysql_value asked{"requests", batch.str()};
  if (connection_.write("acquire", {asked, mysql_text("identity", identity_)}) == 0) return {};
  return grants_of(connection_.read("acquired", 2, {asked}));
}

std::vector<grant> mysql_session::acquire_shared(std::span<const acquire_item> requests) {
  if (!connection_.takes_blocks()) return {};
  const auto identity = mysql_text("identity", identity_);
  if (requests.size() == 1) {
    const auto& one = requests.front();
    const auto granted = connection_.read_block("acquire_shared_one", 1,
                                                {mysql_text("name", one.name),
                                                 {"kind", std::string{to_string(one.kind)}},
                                                 {"capacity", one.capacity},
                                                 {"fair", std::int64_t{one.fair}},
                                                 {"lease", one.lease.to_string()},
                                                 {"hold", one.hold.to_string()},
                                                 {"weight", one.weight},
                                                 identity});
    if (granted.empty()) return {};
    return {{one.hold, integer_of(granted[0][0])}};
  }
  mysql_json batch;
  for (const auto& request : requests) {
    batch.row().hex(request.name).word(to_string(request.kind)).number(request.capacity);
    batch.id(request.lease).id(request.hold).number(request.fair ? 1 : 0).number(request.weight).end_row();
  }
  return grants_of(connection_.read_block("acquire_shared", 2, {{"requests", batch.str()}, identity}));
}

std::vector<grant> mysql_session::grants_of(const mysql_rows& rows) {
  std::vector<grant> grants;
  for (const auto& row : rows) grants.push_back({id_of<hold_id>(row[0]), integer_of(row[1])});
  return grants;
}

std::vector<hold_id> mysql_session::release(std::span<const release_item> requests, durability) {
  return by_mode(
      requests, [&](auto exclusive) { return release_exclusive(exclusive); },
      [&](auto shared) { return release_shared(shared); });
}

std::vector<hold_id> mysql_session::release_exclusive(std::span<const release_item> requests) {
  if (requests.empty()) return {};
  if (!connection_.takes_blocks()) return release_unlocked(requests);
  if (requests.size() == 1) return release_one(requests.front());
  mysql_list names, holds;
  mysql_choice lease;
  std::vector<hold_id> all;
  for (const auto& request : requests) {
    const auto name = mysql_literal(request.name);
    names.add(name);
    holds.add(mysql_literal(request.hold));
    lease.add(name, mysql_literal(request.lease));
    all.push_back(request.hold);
  }
  const mysql_value count{"count", static_cast<long long>(requests.size())};
  const bool done = unless_locked([&] {
    connection_.write_block("release_plain", {{"names", names}, {"holds", holds}, {"lease", lease}, count});
  });
  return done ? all : release_unlocked(requests);
}

std::vector<hold_id> mysql_session::release_one(const release_item& request) {
  std::int64_t matched = 0;
  unless_locked([&] {
    matched = connection_.write("release_one", {mysql_text("name", request.name),
                                                {"lease", request.lease.to_string()},
                                                {"hold", request.hold.to_string()}});
  });
  return matched == 0 ? std::vector<hold_id>{} : std::vector{request.hold};
}

std::vector<hold_id> mysql_session::release_shared(std::span<const release_item> requests) {
  if (!connection_.takes_blocks()) return {};
  if (requests.size() == 1) {
    const auto& one = requests.front();
    return holds_of(connection_.read_block(
        "release_shared_one", 1,
        {mysql_text("name", one.name), {"lease", one.lease.to_string()}, {"hold", one.hold.to_string()}}));
  }
  mysql_json batch;
  for (const auto& request : requests) {
    batch.row().hex(request.name).id(request.lease).id(request.hold).end_row();
  }
  return holds_of(connection_.read_block("release_shared", 1, {{"requests", batch.str()}}));
}

std::vector<hold_id> mysql_session::release_unlocked(std::span<const release_item> requests) {
  mysql_json batch;
  for (const auto& request : requests) {
    batch.row().hex(request.name).id(request.lease).id(request.hold).end_row();
  }
  mysql_transaction transaction{connection_, "release"};
  mysql_json names;
  std::vector<hold_id> freed;
  for (const auto& row : connection_.read("release_take", 2, {{"requests", batch.str()}})) {
    names.word(row[0].value());
    freed.push_back(id_of<hold_id>(row[1]));
  }
  if (freed.empty()) return freed;
  const mysql_statement last[] = {{"release", {{"names", names.str()}}}};
  transaction.commit(last);
  return freed;
}

}  // namespace rowlock::store
