// Creating, editing and collecting locks.
#include "store/mysql/mysql_edit.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_session.hpp"
#include "store/mysql/mysql_transaction.hpp"

#include <algorithm>
#include <set>

namespace rowlock::store {

namespace {

std::string batch_of(const std::vector<model::lock_definition>& locks) {
  mysql_json batch;
  for (const auto& lock : locks) {
    batch.row().hex(lock.name).word(to_string(lock.kind)).number(lock.capacity);
    batch.number(lock.fair ? 1 : 0).number(lock.delay.count()).end_row();
  }
  return batch.str();
}

}  // namespace

// An INSERT of a name that exists waits for its row, so it is not even tried: only what is missing is made.
void mysql_session::create(std::span<const model::lock_definition> locks) {
  if (locks.empty()) return;
  const std::vector<model::lock_definition> wanted{locks.begin(), locks.end()};
  std::set<std::int64_t> places;
  for (const auto& row : connection_.read("missing_names", 1, {{"locks", batch_of(wanted)}})) {
    places.insert(integer_of(row[0]) - 1);
  }
  std::vector<model::lock_definition> missing;
  for (const auto place : places) missing.push_back(wanted.at(static_cast<std::size_t>(place)));
  if (!missing.empty()) connection_.write("create_locks", {{"locks", batch_of(missing)}});
}

std::vector<edit_result> mysql_session::edit_together(std::span<const edit_request> requests,
                                                      const joint_decision& decide) {
  if (requests.empty()) return {};
  return mysql_edit{connection_, identity_, requests}.run(decide);
}

std::int64_t mysql_session::collect(std::chrono::milliseconds idle, std::size_t limit) {
  const mysql_value age{"idle_us", std::chrono::microseconds{idle}.count()};
  mysql_json candidates;
  for (const auto& row :
       connection_.read("idle_locks", 1, {age, {"most", static_cast<std::int64_t>(limit)}})) {
    candidates.word(row[0].value());
  }
  if (candidates.empty()) return 0;
  mysql_transaction transaction{connection_, "collect"};
  connection_.read("take_meta", 4);
  mysql_json names;
  token highest = 0;
  for (const auto& row : connection_.read("collect_take", 2, {{"names", candidates.str()}, age})) {
    names.word(row[0].value());
    highest = std::max(highest, integer_of(row[1]));
  }
  if (names.empty()) return 0;
  connection_.write("raise_floor", {{"token", highest}});
  const auto deleted = connection_.write("collect_delete", {{"names", names.str()}});
  transaction.commit();
  return deleted;
}

}  // namespace rowlock::store
