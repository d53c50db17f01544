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
    batch.add(lock.name, to_string(lock.kind), lock.capacity, lock.fair, lock.delay);
  }
  return batch.str();
}

}  // namespace

// An INSERT of a name that exists would wait for its row, so only the missing names are inserted.
void mysql_session::create(std::span<const model::lock_definition> locks) {
  if (locks.empty()) return;
  const std::vector<model::lock_definition> wanted{locks.begin(), locks.end()};
  std::set<std::int64_t> places;
  for (auto rows = connection_.read("create_missing", {{"locks", batch_of(wanted)}}); rows.next();) {
    places.insert(rows.integer(0) - 1);
  }
  std::vector<model::lock_definition> missing;
  for (const auto place : places) missing.push_back(wanted.at(static_cast<std::size_t>(place)));
  if (!missing.empty()) connection_.write("create", {{"locks", batch_of(missing)}});
}

std::vector<edit_result> mysql_session::edit_together(std::span<const edit_request> requests,
                                                      const joint_decision& decide) {
  if (requests.empty()) return {};
  return mysql_edit{connection_, identity(), requests}.run(decide);
}

std::int64_t mysql_session::collect(std::chrono::milliseconds idle, std::size_t limit) {
  const mysql_value age{"idle_us", std::chrono::microseconds{idle}.count()};
  mysql_json candidates;
  for (auto idle_locks = connection_.read("collect_find", {age, {"most", limit}}); idle_locks.next();) {
    candidates.add(idle_locks.view(0));
  }
  if (candidates.empty()) return 0;
  mysql_transaction transaction{connection_, "collect"};
  transaction.read({"take_meta", {}});
  mysql_json names;
  token highest = 0;
  for (auto taken = transaction.read({"collect_take", {{"names", candidates}, age}}); taken.next();) {
    names.add(taken.view("name"));
    highest = std::max(highest, taken.integer("token"));
  }
  if (names.empty()) return 0;
  transaction.write({"collect_floor", {{"token", highest}}});
  const auto deleted = transaction.write({"collect_delete", {{"names", names}}});
  transaction.commit();
  return deleted;
}

}  // namespace rowlock::store
