// Creating, editing and collecting locks.
#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_edit.hpp"
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

void postgres_session::create(std::span<const model::lock_definition> locks) {
  postgres_array names, kinds, capacities, fairness, delays;
  for (const auto& lock : locks) {
    names.add_text(lock.name);
    kinds.add_word(to_string(lock.kind));
    capacities.add(lock.capacity);
    fairness.add(lock.fair);
    delays.add(std::int64_t{lock.delay.count()});
  }
  // Need not be on disk before it is answered: the log is in order, so a grant of the name that is on disk
  // has its creation, and the floor that it read, on disk before it. A creation that a crash takes is done
  // again.
  const auto script = connection_.begin() + "SET LOCAL synchronous_commit = off;\n" +
                      connection_.execute("create_locks", names.str(), kinds.str(), capacities.str(),
                                          fairness.str(), delays.str()) +
                      connection_.execute("create_tokens", names.str()) + "COMMIT";
  try {
    connection_.script("create", script);
  } catch (const error&) {
    connection_.rollback();
    throw;
  }
}

std::vector<edit_result> postgres_session::edit_together(std::span<const edit_request> requests,
                                                         const joint_decision& decide) {
  return postgres_edit{connection_, requests}.run(decide);
}

std::int64_t postgres_session::collect(std::chrono::milliseconds idle, std::size_t limit) {
  const auto script =
      connection_.begin() + "SET LOCAL enable_seqscan = on;\n" + connection_.execute("take_meta") +
      connection_.execute("collect_take", std::to_string(idle.count()), std::to_string(limit)) +
      "SET LOCAL enable_seqscan = off;\n" + connection_.execute("raise_floor") +
      connection_.execute("collect_delete");
  try {
    const auto deleted = connection_.script("collect", script).affected_rows();
    connection_.script("collect", "COMMIT");
    return static_cast<std::int64_t>(deleted);
  } catch (const error&) {
    connection_.rollback();
    throw;
  }
}

}  // namespace rowlock::store
