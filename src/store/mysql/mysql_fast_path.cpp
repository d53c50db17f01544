// Grants and releases that can be decided from the lock's row alone.
//
// MariaDB: one statement that waits for no row. If a row of its batch is locked, it fails with 1205 at once
// and changes nothing; the batch then takes a longer way that skips locked rows. MySQL always takes that way,
// because it cannot be told not to wait.
//
// Shared requests write two tables, so they are a block of statements that skips locked rows by itself. MySQL
// has no blocks outside of stored programs; there an edit handles them.
#include "store/by_mode.hpp"
#include "store/decode.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"
#include "store/mysql/mysql_transaction.hpp"

namespace rowlock::store {

namespace {

constexpr std::string_view row_is_locked = "1205";

// False: a row was locked.
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

mysql_json batch_of(std::span<const release_item> requests) {
  mysql_json batch;
  for (const auto& one : requests) batch.add(one.name, one.lease, one.hold);
  return batch;
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
    granted = connection_.read("acquire_nowait", {{"names", names},
                                                  {"holds", holds},
                                                  {"kind", kind},
                                                  {"capacity", capacity},
                                                  {"fair", fair},
                                                  {"lease", lease},
                                                  {"hold", hold},
                                                  mysql_text("identity", identity_)});
  });
  return done ? read_grants(std::move(granted)) : acquire_unlocked(requests);
}

std::vector<grant> mysql_session::acquire_one(const acquire_item& request) {
  std::int64_t matched = 0;
  unless_locked([&] {
    auto values = request_values(request);
    values.push_back(mysql_text("identity", identity_));
    matched = connection_.write_prepared("acquire_one", values);
  });
  if (matched == 0) return {};
  return {{request.hold, connection_.last_insert_id()}};
}

std::vector<grant> mysql_session::acquire_unlocked(std::span<const acquire_item> requests) {
  mysql_json batch;
  for (const auto& one : requests) {
    batch.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair);
  }
  const mysql_value asked{"requests", batch};
  if (connection_.write("acquire", {asked, mysql_text("identity", identity_)}) == 0) return {};
  return read_grants(connection_.read("acquire_result", {asked}));
}

std::vector<grant> mysql_session::acquire_shared(std::span<const acquire_item> requests) {
  if (!connection_.takes_blocks()) return {};
  const auto identity = mysql_text("identity", identity_);
  if (requests.size() == 1) {
    const auto& one = requests.front();
    auto values = request_values(one);
    values.emplace_back("weight", one.weight);
    values.push_back(identity);
    auto granted = connection_.read_block("acquire_shared_one", values);
    if (!granted.next()) return {};
    return {{one.hold, granted.integer("token")}};
  }
  mysql_json batch;
  for (const auto& one : requests) {
    batch.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair, one.weight);
  }
  return read_grants(connection_.read_block("acquire_shared", {{"requests", batch}, identity}));
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
  const mysql_value count{"count", requests.size()};
  const bool done = unless_locked([&] {
    connection_.write_block("release_nowait", {{"names", names}, {"holds", holds}, {"lease", lease}, count});
  });
  return done ? all : release_unlocked(requests);
}

std::vector<hold_id> mysql_session::release_one(const release_item& request) {
  std::int64_t matched = 0;
  unless_locked([&] { matched = connection_.write("release_one", request_values(request)); });
  return matched == 0 ? std::vector<hold_id>{} : std::vector{request.hold};
}

std::vector<hold_id> mysql_session::release_shared(std::span<const release_item> requests) {
  if (!connection_.takes_blocks()) return {};
  if (requests.size() == 1) {
    return read_holds(connection_.read_block("release_shared_one", request_values(requests.front())));
  }
  return read_holds(connection_.read_block("release_shared", {{"requests", batch_of(requests)}}));
}

std::vector<hold_id> mysql_session::release_unlocked(std::span<const release_item> requests) {
  mysql_transaction transaction{connection_, "release"};
  mysql_json names;
  std::vector<hold_id> freed;
  for (auto taken = connection_.read("release_take", {{"requests", batch_of(requests)}}); taken.next();) {
    names.add(taken.view("name"));
    freed.push_back(taken.id<hold_id>("hold_id"));
  }
  if (freed.empty()) return freed;
  const mysql_statement last[] = {{"release", {{"names", names}}}};
  transaction.commit(last);
  return freed;
}

}  // namespace rowlock::store
