// The slow path: one transaction that reads, decides and writes.
#include "store/decode.hpp"
#include "store/edit_writes.hpp"
#include "store/sqlite/sqlite_session.hpp"

#include <algorithm>

namespace rowlock::store {
namespace {

// An edit gives up, and the client retries it, if one transaction has kept the write lock for this time. The
// edit may need twice this time to notice that.
constexpr std::chrono::milliseconds wait_limit_of_an_edit{25};

// Runs each row of a change as a statement of its own.
class edit_writer {
 public:
  explicit edit_writer(sqlite_connection& connection) : connection_{connection} {}

  template <class... Values>
  void row(std::string_view statement, const Values&... values) {
    connection_.query(statement, values...).run();
  }
  void lease(const lease_record& made) { insert_lease(connection_, made); }
  void request(const std::string& name, const release_request& asked) {
    row("edit_write_request", name, asked.upto, asked.within, asked.reason);
  }
  void value(const std::string& name, const std::string& text) { row("edit_write_value", name, text); }
  void data(const std::string& name, const permit_data& said) {
    row("edit_write_data", name, said.hold, said.text);
  }

  void history(const std::string& name, std::int64_t, const history_entry& line) {
    row("edit_history", name, to_string(line.event), line.token, line.hold, line.lease, line.detail);
  }

 private:
  sqlite_connection& connection_;
};

}  // namespace

void sqlite_session::create(std::span<const model::lock_definition> locks) {
  writing transaction{*this, durability::durable};
  std::int64_t created = 0;
  for (const auto& lock : locks) {
    created += connection_
                   .query("create", lock.name, to_string(lock.kind), lock.capacity, lock.fair, lock.delay,
                          clock_token())
                   .run();
  }
  if (created > 0) transaction.finish();
}

std::vector<edit_result> sqlite_session::edit_together(std::span<const edit_request> requests,
                                                       const joint_decision& decide) {
  edit_reader found{requests};
  // The commit is always durable: SQLite must know that before the transaction begins, and only the decision
  // tells whether something is granted.
  writing transaction{*this, durability::durable, wait_limit_of_an_edit};
  if (!transaction) {
    std::fill(found.results.begin(), found.results.end(), edit_result::skipped);
    decide(found.results, found.views);
    return found.results;
  }
  const database_state now = state_now();
  const auto read = [&](std::size_t at, std::string_view statement, const auto&... values) {
    for (auto query = connection_.query(statement, values...); query.next();) found.read(query, at);
  };
  for (std::size_t at = 0; at < requests.size(); ++at) {
    const auto& name = requests[at].name;
    const auto& about = requests[at].about;
    read(at, "edit_read", name, now.identity == now.recorded_identity);
    if (found.results[at] == edit_result::missing) continue;
    if (const auto& holds = requests[at].permits_of) {
      for (const auto& hold : *holds) read(at, "edit_read_permit", name, hold);
      if (needs_sum(requests[at], found.views[at].row)) read(at, "edit_read_sum", name);
    } else {
      read(at, "edit_read_permits", name);
    }
    read(at, "edit_read_queue", name);
    if (!about.is_nil()) read(at, "edit_read_own", name, about);
    if (found.needs_data(at)) found.read_data(connection_.query("edit_read_data", name, about), at);
  }
  const auto changes = decide(found.results, found.views);
  const auto empty = [](const lock_change& change) { return change.empty(); };
  if (std::all_of(changes.begin(), changes.end(), empty)) return found.results;
  edit_writer writer{connection_};
  for (std::size_t i = 0; i < requests.size(); ++i) write_change(requests[i].name, changes[i], writer);
  transaction.finish();
  return found.results;
}

}  // namespace rowlock::store
