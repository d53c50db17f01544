#include "store/mysql/mysql_edit.hpp"

#include "store/edit_writes.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_transaction.hpp"

#include <map>
#include <set>
#include <utility>

namespace rowlock::store {

namespace {

// Collects the changes of several locks: rows for one statement become one execution of it. The commit is
// always durable, because InnoDB has no other commit for a single session.
class edit_statements {
 public:
  template <class... Values>
  void row(const std::string& statement, const Values&... values) {
    batches_[statement].add(values...);
  }
  void lease(const lease_record& made) { statements_.push_back({"create_lease", lease_values(made)}); }
  void request(const std::string& name, const release_request& asked) {
    statements_.push_back({"edit_write_request",
                           {mysql_text("name", name),
                            {"token", asked.upto},
                            {"within_ms", asked.within},
                            mysql_text("reason", asked.reason)}});
  }
  void value(const std::string& name, const std::string& text) { row("edit_write_value", name, text); }
  void data(const std::string& name, const permit_data& said) {
    row("edit_write_data", name, said.hold, said.text);
  }

  void history(const std::string& name, std::int64_t place, const history_entry& line) {
    row("edit_history", name, place, to_string(line.event), line.token, line.hold, line.lease, line.detail);
  }

  // Returns the statements in the order in which they must run.
  std::vector<mysql_statement> take() {
    for (const auto* statement :
         {"edit_dequeue", "edit_enqueue", "edit_remove_permits", "edit_add_permits", "edit_write_data",
          "edit_write_lock", "edit_write_value", "edit_history", "edit_end_leases", "edit_notice"}) {
      const auto found = batches_.find(statement);
      if (found != batches_.end()) statements_.push_back({statement, {{"rows", found->second}}});
    }
    return std::move(statements_);
  }

 private:
  std::vector<mysql_statement> statements_;
  std::map<std::string, mysql_json> batches_;
};

}  // namespace

mysql_values lease_values(const lease_record& made) {
  return {{"lease", made.id},
          {"client", made.client},
          mysql_text("host", made.host),
          {"pid", made.pid},
          mysql_text("application", made.application),
          {"ttl_ms", made.ttl},
          mysql_text("username", made.user),
          mysql_text("program", made.program)};
}

std::vector<edit_result> mysql_edit::run(const joint_decision& decide) {
  mysql_json batch;
  mysql_json holds;
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    const auto& one = requests_[at];
    batch.add(one.name, one.about, one.permits_of ? 0 : 1, one.wanted);
    for (const auto& hold : one.permits_of.value_or(std::vector<hold_id>{}))
      holds.add(at + 1, one.name, hold);
  }
  const auto asked = batch.str();
  mysql_transaction transaction{connection_, "edit"};
  const mysql_statement first[] = {{"edit_take", {{"asked", asked}}},
                                   {"edit_read", {{"asked", asked}, {"holds", holds}, identity_}}};
  read(transaction.read(first));
  const auto changes = decide(found_.results, found_.views);
  edit_statements writes;
  for (std::size_t i = 0; i < changes.size(); ++i) write_change(requests_[i].name, changes[i], writes);
  // While the locks' rows are locked, no statement may wait for a gap that a user's transaction has locked,
  // or for a lease that is being renewed. Such a statement fails (on MySQL after a second), and the whole
  // edit is retried after a pause.
  if (const auto last = writes.take(); !last.empty()) {
    transaction.commit(last, mysql_connection::waiting::never);
  }
  return found_.results;
}

void mysql_edit::read(mysql_rows&& locks) {
  found_.read(std::move(locks));
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    if (found_.views[at].row.has_queue) read_queue(at);
    if (!found_.needs_data(at)) continue;
    const auto& one = requests_[at];
    found_.read_data(connection_.read("edit_read_data", {mysql_text("name", one.name), {"hold", one.about}}),
                     at);
  }
  read_guards();
}

// A statement of its own for each lock's queue lets the server start at the head of the queue. One for all
// queues would start at the rows of waiters that have left, which stay while an old snapshot lives.
void mysql_edit::read_queue(std::size_t at) {
  const auto head = found_.views[at].row.head_ticket;
  auto rows = connection_.read("edit_read_queue", {mysql_text("name", requests_[at].name), {"head", head}});
  while (rows.next()) found_.read(rows, at);
}

// Finds the guarded permits: the guard of a permit locks only that permit. Nobody can guard a permit of a
// latch or a barrier.
void mysql_edit::read_guards() {
  mysql_json all;
  mysql_json known;
  std::vector<std::size_t> places_of_all;
  std::vector<std::size_t> places_of_known;
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    const auto& view = found_.views[at];
    if (view.permits.empty() || model::is_rendezvous(view.row.kind)) continue;
    if (!requests_[at].permits_of) {
      all.add(requests_[at].name, hold_id{});
      places_of_all.push_back(at);
      continue;
    }
    for (const auto& entry : view.permits) {
      known.add(requests_[at].name, entry.permit.hold);
      places_of_known.push_back(at);
    }
  }
  note_guards("edit_guard_permits", all, places_of_all);
  note_guards("edit_guard_permit", known, places_of_known);
}

void mysql_edit::note_guards(const std::string& statement, const mysql_json& asked,
                             const std::vector<std::size_t>& places) {
  if (places.empty()) return;
  std::set<std::pair<std::size_t, hold_id>> loose;
  for (auto rows = connection_.read(statement, {{"asked", asked}}); rows.next();) {
    loose.emplace(places.at(static_cast<std::size_t>(rows.integer("n")) - 1), rows.id<hold_id>("hold_id"));
  }
  for (const auto at : places) {
    auto& view = found_.views[at];
    for (auto& entry : view.permits) {
      entry.guarded = !loose.contains({at, entry.permit.hold});
      if (entry.guarded) view.replaceable = false;
    }
  }
}

}  // namespace rowlock::store
