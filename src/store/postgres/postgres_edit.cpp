#include "store/postgres/postgres_edit.hpp"

#include "store/edit_writes.hpp"
#include "store/postgres/postgres_transaction.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace rowlock::store {

namespace {

// A guarded transaction proves its hold by the row, so an edit that took the hold away would be a bug.
void check_grant_stays(const lock_view& view, const lock_change& change) {
  if (view.replaceable || !change.row) return;
  const bool guarded_goes = std::any_of(view.permits.begin(), view.permits.end(), [&](const auto& entry) {
    const auto& gone = change.remove_permits;
    return entry.guarded && std::find(gone.begin(), gone.end(), entry.permit.hold) != gone.end();
  });
  if (change.row->lease != view.row.lease || change.row->hold != view.row.hold || guarded_goes) {
    throw error(errc::internal, "an edit replaces a grant that a guarded transaction relies on");
  }
}

// Collects the changes of several locks: rows for one statement become one execution of it.
class edit_script {
 public:
  explicit edit_script(postgres_connection& connection) : connection_{connection} {}

  template <class... Values>
  void row(const std::string& statement, const Values&... values) {
    auto& columns = batches_[statement];
    columns.resize(sizeof...(values));
    std::size_t column = 0;
    (columns[column++].add(values), ...);
  }
  void lease(const lease_record& made) {
    leases_ += connection_.execute("create_lease", made.id, made.client, made.host, made.pid,
                                   made.application, made.ttl, made.user, made.program);
  }
  void request(const std::string& name, const release_request& asked) {
    texts_ += connection_.execute("edit_write_request", name, asked.upto, asked.within, asked.reason);
  }
  void value(const std::string& name, const std::string& text) {
    texts_ += connection_.execute("edit_write_value", name, text);
  }
  void data(const std::string& name, const permit_data& said) {
    texts_ += connection_.execute("edit_write_data", name, said.hold, said.text);
  }

  void history(const std::string& name, std::int64_t place, const history_entry& line) {
    row("edit_history", name, place, to_string(line.event), line.token, line.hold, line.lease, line.detail);
  }

  // The statements that lock leases' rows come last: edit_notice may wait for such a row, and a renewal of a
  // lease that is locked here waits until this transaction ends.
  std::string text() {
    auto script = leases_;
    for (const auto* statement :
         {"edit_dequeue", "edit_enqueue", "edit_remove_permits", "edit_add_permits", "edit_write_lock"}) {
      script += batch(statement);
    }
    return script + texts_ + batch("edit_history") + batch("edit_end_leases") + batch("edit_notice") +
           "COMMIT";
  }

 private:
  std::string batch(const std::string& statement) {
    const auto found = batches_.find(statement);
    if (found == batches_.end()) return {};
    std::vector<std::string> arguments;
    for (const auto& column : found->second) arguments.push_back(column.to_string());
    return connection_.execute_texts(statement, arguments);
  }

  postgres_connection& connection_;
  std::string leases_;
  std::string texts_;
  std::map<std::string, std::vector<postgres_array>> batches_;
};

}  // namespace

std::vector<edit_result> postgres_edit::run(const joint_decision& decide) {
  const auto question = reading_script();
  postgres_transaction transaction{connection_};
  read(question);
  const auto changes = decide(found_.results, found_.views);
  for (std::size_t i = 0; i < requests_.size(); ++i) check_grant_stays(found_.views[i], changes[i]);
  if (write(changes)) transaction.is_over();
  return found_.results;
}

std::string postgres_edit::reading_script() {
  postgres_batch<4> asked;
  postgres_array holds;
  for (const auto& one : requests_) {
    std::optional<std::string> permits_of;
    if (one.permits_of) {
      postgres_array known;
      for (const auto& hold : *one.permits_of) {
        known.add(hold);
        holds.add(hold);
      }
      permits_of = known.to_string();
    }
    asked.add(one.name, one.about.is_nil() ? std::optional<hold_id>{} : one.about, permits_of, one.wanted);
  }
  return connection_.begin() + connection_.execute("edit_guard", asked.columns()[0]) +
         connection_.execute("edit_take", asked.columns()[0]) +
         (found_.reads_all_permits() ? connection_.execute("edit_guard_permits")
                                     : connection_.execute("edit_guard_permit", holds)) +
         connection_.execute("edit_read", asked);
}

void postgres_edit::read(const std::string& script) {
  found_.read(connection_.script("edit", script));
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    if (!found_.needs_data(at)) continue;
    const auto& one = requests_[at];
    found_.read_data(connection_.script("edit", connection_.execute("edit_read_data", one.name, one.about)),
                     at);
  }
}

// Whether anything was written, and committed.
bool postgres_edit::write(std::span<const lock_change> changes) {
  if (std::all_of(changes.begin(), changes.end(), [](const lock_change& change) { return change.empty(); })) {
    return false;
  }
  edit_script script{connection_};
  for (std::size_t i = 0; i < changes.size(); ++i) write_change(requests_[i].name, changes[i], script);
  const bool durable =
      std::any_of(changes.begin(), changes.end(), [](const auto& one) { return one.durable; });
  const auto* commit = durable ? "" : "SET LOCAL synchronous_commit = off;\n";
  connection_.script("edit", commit + script.text());
  return true;
}

}  // namespace rowlock::store
