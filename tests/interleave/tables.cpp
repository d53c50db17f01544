#include "tables.hpp"

#include "support/sqlite_clock.hpp"

#include <algorithm>
#include <cctype>

namespace rowlock::test {

namespace {

// The identity that store_fixture::change_identity writes.
constexpr std::string_view other_server = "another";

std::string id_of(std::string text) {
  std::erase(text, '-');
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::int64_t number(const std::string& text) {
  return text.empty() ? 0 : std::stoll(text);
}

// Gives one row of ten texts for each row of each table, in one statement and so of one moment. @ stands for the
// prefix, {x} for the dialect's text of x.
constexpr const char* everything = R"(
SELECT 'lock', {T name}, kind, {I lease_id}, {I hold_id}, {N capacity}, {N in_use}, {N token}, {N next_ticket},
       {B has_queue}
FROM @lock WHERE name > $1 AND name < $2
UNION ALL
SELECT 'permit', {T name}, '', {I lease_id}, {I hold_id}, {N weight}, {N token}, '', '', ''
FROM @permit WHERE name > $1 AND name < $2
UNION ALL
SELECT 'waiter', {T name}, mode, {I lease_id}, {I hold_id}, {N ticket}, {N weight}, '', '', ''
FROM @queue WHERE name > $1 AND name < $2
UNION ALL
SELECT 'lease', '', '', {I id}, '', {E expires_at}, {X expires_at}, '', '', '' FROM @lease WHERE application = $3
UNION ALL
SELECT 'meta', '', '', '', '', {N token_floor}, {N epoch_floor}, identity, '', '' FROM @meta WHERE id = 1
)";

std::string as_text(dialect in, char kind, const std::string& column) {
  switch (kind) {
    case 'T':
    case 'N':
      if (in == dialect::mysql) return "CAST(" + column + " AS CHAR)";
      return "CAST(" + column + " AS TEXT)";
    case 'I':
      if (in == dialect::mysql) return "COALESCE(HEX(" + column + "), '')";
      return "COALESCE(CAST(" + column + " AS TEXT), '')";
    case 'B':
      return "CASE WHEN " + column + (in == dialect::postgres ? "" : " <> 0") + " THEN '1' ELSE '0' END";
    case 'E':
      if (in == dialect::postgres) {
        return "CAST(CAST(extract(epoch FROM " + column + ") * 1000000 AS BIGINT) AS TEXT)";
      }
      if (in == dialect::mysql) {
        return "CAST(TIMESTAMPDIFF(MICROSECOND, '2020-01-01', " + column + ") AS CHAR)";
      }
      return "CAST(" + column + " AS TEXT)";
    case 'X':
      return "CASE WHEN " + column + " <= " +
             (in == dialect::postgres ? "clock_timestamp()"
              : in == dialect::mysql  ? "UTC_TIMESTAMP(6)"
                                      : sqlite_now_us) +
             " THEN '1' ELSE '0' END";
    default: return column;
  }
}

std::string in_dialect(std::string sql, dialect in) {
  for (auto at = sql.find('{'); at != std::string::npos; at = sql.find('{', at)) {
    const auto end = sql.find('}', at);
    sql.replace(at, end - at + 1, as_text(in, sql[at + 1], sql.substr(at + 3, end - at - 3)));
  }
  return sql;
}

}  // namespace

bool tables::holds(const std::string& name, const std::string& hold) const {
  const auto lock = locks.find(name);
  if (lock != locks.end() && lock->second.hold == hold) return true;
  const auto shared = permits.find(name);
  return shared != permits.end() && shared->second.contains(hold);
}

bool tables::waits(const std::string& name, const std::string& hold) const {
  const auto queue = queues.find(name);
  return queue != queues.end() &&
         std::ranges::any_of(queue->second, [&](const auto& one) { return one.second.hold == hold; });
}

std::int64_t tables::weight_of_the_living(const std::string& name) const {
  std::int64_t weight = 0;
  const auto& lock = locks.at(name);
  if (!lock.lease.empty() && lives(lock.lease)) weight += lock.capacity;
  if (const auto shared = permits.find(name); shared != permits.end()) {
    for (const auto& [hold, permit] : shared->second) weight += lives(permit.lease) ? permit.weight : 0;
  }
  return weight;
}

tables read_tables(sql_session& session, const std::string& prefix, const std::string& run) {
  tables read;
  const auto sql = in_dialect(replace_all(everything, "@", prefix), session.dialect());
  for (const auto& row : session.run(sql, {run + "/", run + "0", run})) {
    const auto& name = row[1];
    const auto lease = id_of(row[3]), hold = id_of(row[4]);
    if (row[0] == "lock") {
      read.locks[name] = {row[2],         number(row[5]), number(row[6]), number(row[7]),
                          number(row[8]), lease,          hold,           row[9] == "1"};
    } else if (row[0] == "permit") {
      read.permits[name][hold] = {lease, number(row[5]), number(row[6])};
    } else if (row[0] == "waiter") {
      read.queues[name][number(row[5])] = {hold, lease, row[2], number(row[6])};
    } else if (row[0] == "lease") {
      read.leases[lease] = {number(row[5]), row[6] == "1"};
    } else {
      read.token_floor = number(row[5]);
      read.epoch_floor = number(row[6]);
      read.identity = row[7];
    }
  }
  return read;
}

table_rules::table_rules(tables at_the_start) : now_{std::move(at_the_start)} {
  for (const auto& [name, lock] : now_.locks) highest_[name] = lock.token;
}

std::string table_rules::after_step(tables now) {
  found_.clear();
  for (const auto& [name, lock] : now.locks) check_lock(name, now);
  for (const auto& [name, highest] : highest_) {
    if (!now.locks.contains(name) && now.token_floor < highest) {
      wrong("I2: " + name + " was collected with a token above the floor");
    }
  }
  for (const auto& [name, hold] : guarded_) {
    if (!now.holds(name, hold)) wrong("guard: " + name + " is not held by " + hold + " under its guard");
  }
  check_leases(now);
  now_ = std::move(now);
  return found_;
}

void table_rules::check_lock(const std::string& name, const tables& now) {
  const auto& lock = now.locks.at(name);
  static const std::map<std::string, tables::permit_row> none;
  const auto shared = now.permits.find(name);
  const auto& permits = shared == now.permits.end() ? none : shared->second;
  if (now.weight_of_the_living(name) > lock.capacity) {
    wrong("I1: the holds of " + name + " exceed its capacity");
  }
  std::int64_t sum = lock.hold.empty() ? 0 : lock.capacity;
  for (const auto& [hold, permit] : permits) sum += permit.weight;
  if (lock.in_use != sum) {
    wrong("I1: in_use of " + name + " is " + std::to_string(lock.in_use) + ", its holds weigh " +
          std::to_string(sum));
  }
  if (lock.token < highest_[name]) wrong("I2: the token of " + name + " fell");
  if (!lock.hold.empty() && !now_.holds(name, lock.hold)) check_grant(name, lock.hold, lock.token, now);
  // The holds by their tokens, which is the order of their grants.
  std::map<std::int64_t, std::string> granted;
  for (const auto& [hold, permit] : permits) {
    if (now_.holds(name, hold)) continue;
    if (!granted.emplace(permit.token, hold).second) wrong("I2: two permits of " + name + " have one token");
  }
  for (const auto& [token, hold] : granted) check_grant(name, hold, token, now);
  highest_[name] = std::max(highest_[name], lock.token);
  if (const auto queue = now.queues.find(name); queue != now.queues.end()) {
    if (!lock.has_queue) wrong("I6: " + name + " has a queue that its row does not show");
    if (queue->second.rbegin()->first >= lock.next_ticket)
      wrong("I9: a ticket of " + name + " would be used again");
    for (const auto& [ticket, waiter] : queue->second) {
      if (now.holds(name, waiter.hold)) wrong("I6: " + waiter.hold + " holds " + name + " and waits for it");
    }
  }
}

void table_rules::check_grant(const std::string& name, const std::string& hold, std::int64_t token,
                              const tables& now) {
  if (token <= highest_[name]) wrong("I2: " + hold + " was granted " + name + " without a new token");
  if (token < now_.epoch_floor && !epoch_rises_)
    wrong("I2: " + hold + " was granted " + name + " with a token of an earlier epoch");
  if (now.identity == other_server) wrong("server: " + name + " was granted before this server was recorded");
  highest_[name] = std::max(highest_[name], token);
  grants_[hold] = token;
  const auto before = now_.queues.find(name);
  const auto after = now.queues.find(name);
  if (before == now_.queues.end() || after == now.queues.end()) return;
  for (const auto& [ticket, waiter] : before->second) {
    if (waiter.hold == hold) return;
    if (now_.lives(waiter.lease) && now.lives(waiter.lease) && after->second.contains(ticket)) {
      wrong("I9: " + hold + " was granted " + name + " before " + waiter.hold);
    }
  }
}

void table_rules::check_leases(const tables& now) {
  for (const auto& [lease, before] : now_.leases) {
    const auto found = now.leases.find(lease);
    if (found == now.leases.end()) {
      dead_.insert(lease);
      if (now_.identity == other_server && !ending_.contains(lease)) {
        wrong("server: the lease " + lease + " was killed before this server was recorded");
      }
      if (!before.has_expired && !ending_.contains(lease))
        wrong("I4: the lease " + lease + " was killed before its expiry");
    } else if (before.has_expired && found->second.expires_at > before.expires_at && !clock_changes_) {
      wrong("I4: the lease " + lease + " was renewed after its expiry");
    }
  }
  for (const auto& [lease, state] : now.leases) {
    if (dead_.contains(lease)) wrong("I3: the lease " + lease + " came back");
  }
}

std::string table_rules::at_the_end() const {
  std::string found;
  for (const auto& [name, lock] : now_.locks) {
    const auto queue = now_.queues.find(name);
    if (queue == now_.queues.end()) continue;
    for (const auto& [ticket, waiter] : queue->second) {
      if (!now_.lives(waiter.lease)) continue;
      const auto needed = waiter.mode == "exclusive" ? lock.capacity : waiter.weight;
      if (now_.weight_of_the_living(name) + needed <= lock.capacity) {
        found += "I6: " + waiter.hold + " waits for " + name + ", which is free\n";
      }
      break;
    }
  }
  return found;
}

}  // namespace rowlock::test
