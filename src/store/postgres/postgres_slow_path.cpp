// Creating, editing and collecting locks.
#include "store/postgres/postgres_edit.hpp"
#include "store/postgres/postgres_session.hpp"
#include "store/postgres/postgres_transaction.hpp"

namespace rowlock::store {

void postgres_session::create(std::span<const model::lock_definition> locks) {
  postgres_batch<5> all;
  for (const auto& lock : locks) {
    all.add(lock.name, to_string(lock.kind), lock.capacity, lock.fair, lock.delay);
  }
  // The commit need not wait for the disk. The log is in order: if a grant of the name is on disk, so are its
  // creation and the floor that this statement read. A creation that a crash loses is repeated.
  const auto script = connection_.begin() + "SET LOCAL synchronous_commit = off;\n" +
                      connection_.execute("create", all) +
                      connection_.execute("create_tokens", all.columns()[0]) + "COMMIT";
  postgres_transaction transaction{connection_};
  connection_.script("create", script);
  transaction.is_over();
}

std::vector<edit_result> postgres_session::edit_together(std::span<const edit_request> requests,
                                                         const joint_decision& decide) {
  auto results = postgres_edit{connection_, requests}.run(decide);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (results[i] == edit_result::skipped) hot_.was_locked(requests[i].name, hot_row::instant::clock::now());
  }
  return results;
}

std::int64_t postgres_session::collect(std::chrono::milliseconds idle, std::size_t limit) {
  const auto script = connection_.begin() + "SET LOCAL enable_seqscan = on;\n" +
                      connection_.execute("take_meta") + connection_.execute("collect_take", idle, limit) +
                      "SET LOCAL enable_seqscan = off;\n" + connection_.execute("collect_floor") +
                      connection_.execute("collect_delete");
  postgres_transaction transaction{connection_};
  const auto deleted = connection_.script("collect", script).affected();
  connection_.script("collect", "COMMIT");
  transaction.is_over();
  return deleted;
}

}  // namespace rowlock::store
