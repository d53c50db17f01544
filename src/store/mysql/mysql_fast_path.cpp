// Grants and releases that can be decided from the lock's row alone. No statement here waits for a row,
// except the one for a single permit, which waits for a moment behind rivals (hot_row).
//
// A batch of exclusive acquires is sent to MariaDB as acquire_nowait, for which the server waits for no row. If
// a row of the batch is locked, acquire_nowait fails with error 1205 at once and changes nothing; the batch is
// then sent as acquire, which skips locked rows. MySQL cannot be told not to wait, and gets only acquire. A
// single exclusive acquire or release is sent once: to MariaDB as acquire_one_nowait or release_one_nowait,
// which fails if the row is locked, and to MySQL as acquire_one or release_one, which skips the row. Each
// is one round trip, except where a script is sent statement by statement (Galera).
#include "store/by_mode.hpp"
#include "store/decode.hpp"
#include "store/mysql/mysql_error.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"

#include <fmt/format.h>

namespace rowlock::store {

namespace {

// Runs the statement. Returns false if it met a locked row.
template <class Statement>
bool unless_locked(Statement statement) {
  try {
    statement();
    return true;
  } catch (const error& failure) {
    if (failure.database_code() != mysql_row_is_locked) throw;
    return false;
  }
}

// Runs the statement for a single request, and returns how many rows it matched: 0 if its row is locked.
std::int64_t write_unlocked(mysql_connection& connection, const std::string& verb,
                            const mysql_values& values) {
  if (!connection.is_mariadb()) return connection.write(verb, values);
  std::int64_t matched = 0;
  unless_locked([&] { matched = connection.write_prepared(verb + "_nowait", values); });
  return matched;
}

bool some_lease_ends(std::span<const release_item> requests) {
  return std::ranges::any_of(requests, &release_item::ends_lease);
}

}  // namespace

std::vector<grant> mysql_session::acquire(std::span<const acquire_item> requests) {
  return by_mode(
      requests, [&](auto exclusive) { return acquire_exclusive(exclusive); },
      [&](auto shared) { return acquire_shared(shared); });
}

// The values of acquire, acquire_nowait and acquire_all.
mysql_values mysql_session::values_of(std::span<const acquire_item> requests) const {
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
  return {{"names", names}, {"holds", holds}, {"kind", kind}, {"capacity", capacity},
          {"fair", fair},   {"lease", lease}, {"hold", hold}, identity()};
}

std::vector<grant> mysql_session::acquire_exclusive(std::span<const acquire_item> requests) {
  if (requests.empty()) return {};
  if (requests.size() == 1) return acquire_one(requests.front());
  const auto batch = values_of(requests);
  mysql_rows granted;
  const bool done =
      connection_.is_mariadb() && unless_locked([&] { granted = connection_.read("acquire_nowait", batch); });
  return read_grants(done ? std::move(granted) : connection_.read("acquire", batch));
}

std::vector<grant> mysql_session::acquire_all(std::span<const acquire_item> requests) {
  auto batch = values_of(requests);
  batch.push_back({"count", requests.size()});
  return read_grants(connection_.read_transaction("acquire_all", batch));
}

// If the table has a trigger, the server forgets the inserted id. Then the token is read from the row.
std::vector<grant> mysql_session::acquire_one(const acquire_item& request) {
  auto values = request_values(request);
  values.push_back(identity());
  if (write_unlocked(connection_, "acquire_one", values) == 0) return {};
  if (const auto said = connection_.last_insert_id(); said != 0) return {{request.hold, said}};
  auto stored = connection_.read("granted_token", {mysql_text("name", request.name), {"hold", request.hold}});
  // There is no row if the hold was ended by force in between.
  if (!stored.next()) return {};
  return {{request.hold, stored.integer("token")}};
}

// Runs the script acquire_shared_one or release_shared_one, and returns the row that it returns. Empty if the
// lock's row, or a gap that the script met, was locked.
std::optional<mysql_rows> mysql_session::read_permit(const std::string& script, const std::string& name,
                                                     mysql_values values) {
  const auto now = hot_row::instant::clock::now();
  const auto send = [&](const std::string& begin) {
    auto said = connection_.read_prepared(begin, script, values);
    if (said && !said->next()) said.reset();
    return said;
  };
  if (!hot_.waits_for(name, now)) {
    auto said = send("begin");
    if (!said || !said->boolean("is_locked")) return said;
    hot_.was_locked(name, now);
    if (!hot_.waits_for(name, now)) return {};
  }
  const auto limit = hot_.waits_at_most().count();
  values.emplace_back("wait_ms", limit);
  values.emplace_back("wait_s", mysql_literals{fmt::format("{:.3f}", static_cast<double>(limit) / 1000)});
  auto said = send("take_hot_row");
  said ? hot_.had_its_turn() : hot_.waited_in_vain(hot_row::instant::clock::now());
  return said;
}

std::vector<grant> mysql_session::acquire_shared(std::span<const acquire_item> requests) {
  const auto recorded = identity();
  if (requests.size() == 1) {
    const auto& one = requests.front();
    auto values = request_values(one);
    values.emplace_back("weight", one.weight);
    values.push_back(recorded);
    const auto granted = read_permit("acquire_shared_one", one.name, values);
    if (!granted || granted->null("token")) return {};
    return {{one.hold, granted->integer("token")}};
  }
  mysql_json batch;
  for (const auto& one : requests) {
    batch.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair, one.weight);
  }
  return read_grants(connection_.read_prepared("acquire_shared", {{"requests", batch}, recorded}));
}

std::vector<hold_id> mysql_session::release(std::span<const release_item> requests, durability) {
  return by_mode(
      requests, [&](auto exclusive) { return release_exclusive(exclusive); },
      [&](auto shared) { return release_shared(shared); });
}

std::vector<hold_id> mysql_session::release_exclusive(std::span<const release_item> requests) {
  if (requests.empty()) return {};
  if (requests.size() == 1) {
    const auto& one = requests.front();
    if (one.ends_lease) {
      auto freed = connection_.read_prepared("release_one_ending", request_values(one));
      return freed.next() && freed.boolean("is_freed") ? std::vector{one.hold} : std::vector<hold_id>{};
    }
    const auto matched = write_unlocked(connection_, "release_one", request_values(one));
    return matched == 0 ? std::vector<hold_id>{} : std::vector{one.hold};
  }
  mysql_list names, holds, ending;
  mysql_choice lease;
  std::vector<hold_id> all;
  for (const auto& request : requests) {
    const auto name = mysql_literal(request.name);
    names.add(name);
    holds.add(mysql_literal(request.hold));
    lease.add(name, mysql_literal(request.lease));
    if (request.ends_lease) ending.add(mysql_literal(request.lease));
    all.push_back(request.hold);
  }
  mysql_values batch{{"names", names}, {"holds", holds}, {"lease", lease}, {"count", requests.size()}};
  if (!some_lease_ends(requests)) {
    auto freed = connection_.read_transaction("release_all", batch);
    if (freed.next() && freed.boolean(0)) return all;
    ending.add("NULL");
  }
  batch.emplace_back("ending", static_cast<mysql_literals>(ending));
  return read_holds(connection_.read_transaction("release", batch));
}

std::vector<hold_id> mysql_session::release_shared(std::span<const release_item> requests) {
  if (requests.empty()) return {};
  if (requests.size() == 1) {
    const auto& one = requests.front();
    const auto* const script = one.ends_lease ? "release_shared_one_ending" : "release_shared_one";
    const auto freed = read_permit(script, one.name, request_values(one));
    return freed && freed->boolean("is_freed") ? std::vector{one.hold} : std::vector<hold_id>{};
  }
  mysql_json batch;
  for (const auto& one : requests) batch.add(one.name, one.lease, one.hold, one.ends_lease);
  const auto* const script = some_lease_ends(requests) ? "release_shared_ending" : "release_shared";
  return read_holds(connection_.read_prepared(script, {{"requests", batch}}));
}

}  // namespace rowlock::store
