#include "store/postgres/postgres_edit.hpp"

#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_rows.hpp"

#include <algorithm>

namespace rowlock::store {

namespace {

// Columns of edit_read.
enum column : int {
  part,
  request,
  ticket,
  lease,
  hold,
  client,
  expires_us,
  weight,
  mode,
  hold_token,
  found,
  taken,
  replaceable,
  kind,
  capacity,
  in_use,
  has_queue,
  fair,
  delay_ms,
  epoch_floor,
  is_recorded_server,
  head_ticket,
};

std::optional<model::lease_view> lease_of(const pqxx::row& row) {
  if (row[client].is_null()) return {};
  return model::lease_view{id_of<lease_id>(row[lease]), id_of<lease_id>(row[client]),
                           std::chrono::microseconds{integer_of(row[expires_us])}};
}

// A guarded transaction proves the hold by the row; taking the hold away beneath it is a fault of the
// caller's.
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

// The changes of a batch, as one statement a table.
class edit_script {
 public:
  explicit edit_script(postgres_connection& connection) : connection_{connection} {}

  void add(const std::string& name, const lock_change& change) {
    durable_ = durable_ || change.durable;
    for (const auto& made : change.create_leases) {
      leases_ +=
          connection_.execute("create_lease", made.id.to_string(), made.client.to_string(), made.host,
                              std::to_string(made.pid), made.application, std::to_string(made.ttl.count()));
    }
    if (change.row) add_row(name, *change.row, change.granted_now);
    if (const auto& asked = change.request) {
      values_ += connection_.execute("write_request", name, std::to_string(asked->upto),
                                     std::to_string(asked->within.count()), asked->reason);
    }
    if (change.value) values_ += connection_.execute("write_value", name, *change.value);
    for (const auto& waiter : change.enqueue) {
      enqueue_[0].add_text(name);
      enqueue_[1].add(waiter.ticket);
      enqueue_[2].add_id(waiter.hold);
      enqueue_[3].add_id(waiter.lease);
      enqueue_[4].add(waiter.weight);
      enqueue_[5].add_word(to_string(waiter.mode));
    }
    for (const auto& gone : change.remove_permits) {
      remove_permits_[0].add_text(name);
      remove_permits_[1].add_id(gone);
    }
    for (const auto& permit : change.add_permits) {
      add_permits_[0].add_text(name);
      add_permits_[1].add_id(permit.hold);
      add_permits_[2].add_id(permit.lease);
      add_permits_[3].add(permit.weight);
      add_permits_[4].add(permit.token);
    }
    for (const auto& gone : change.dequeue) {
      dequeue_[0].add_text(name);
      dequeue_[1].add_id(gone);
    }
    for (const auto& ended : change.end_leases) ended_.add_id(ended);
    for (const auto& noticed : change.notices) noticed_.add_id(noticed);
  }

  // What waits for a lease row stands last, so that the lock rows are held no longer than it takes.
  std::string text() {
    std::string script;
    if (!durable_) script += "SET LOCAL synchronous_commit = off;\n";
    script += leases_;
    if (!dequeue_[0].empty()) script += connection_.execute("dequeue", dequeue_[0].str(), dequeue_[1].str());
    if (!enqueue_[0].empty()) {
      script += connection_.execute("enqueue", enqueue_[0].str(), enqueue_[1].str(), enqueue_[2].str(),
                                    enqueue_[3].str(), enqueue_[4].str(), enqueue_[5].str());
    }
    if (!remove_permits_[0].empty()) {
      script += connection_.execute("remove_permits", remove_permits_[0].str(), remove_permits_[1].str());
    }
    if (!add_permits_[0].empty()) {
      script += connection_.execute("add_permits", add_permits_[0].str(), add_permits_[1].str(),
                                    add_permits_[2].str(), add_permits_[3].str(), add_permits_[4].str());
    }
    if (!row_[0].empty()) {
      script += connection_.execute("write_lock", row_[0].str(), row_[1].str(), row_[2].str(), row_[3].str(),
                                    row_[4].str(), row_[5].str(), row_[6].str(), row_[7].str(), row_[8].str(),
                                    row_[9].str());
    }
    script += values_;
    if (!ended_.empty()) script += connection_.execute("edit_end_leases", ended_.str());
    if (!noticed_.empty()) script += connection_.execute("notice", noticed_.str());
    return script + "COMMIT";
  }

 private:
  void add_row(const std::string& name, const model::lock_row& row, bool granted) {
    row_[0].add_text(name);
    row_[1].add(row.capacity);
    row_[2].add(row.in_use);
    row_[3].add(row.token);
    row_[4].add(row.next_ticket);
    row_[5].add_id(row.lease);
    row_[6].add_id(row.hold);
    row_[7].add(row.has_queue);
    row_[8].add(granted);
    row_[9].add(row.head_ticket);
  }

  postgres_connection& connection_;
  bool durable_ = false;
  std::string leases_;
  std::string values_;
  postgres_array row_[10], enqueue_[6], dequeue_[2], remove_permits_[2], add_permits_[5], ended_, noticed_;
};

}  // namespace

postgres_edit::postgres_edit(postgres_connection& connection, std::span<const edit_request> requests)
    : connection_{connection},
      requests_{requests},
      results_(requests.size(), edit_result::missing),
      views_(requests.size()) {}

postgres_edit::~postgres_edit() {
  if (open_) connection_.rollback();
}

std::vector<edit_result> postgres_edit::run(const joint_decision& decide) {
  read();
  const auto changes = decide(results_, views_);
  for (std::size_t i = 0; i < requests_.size(); ++i) check_grant_stays(views_[i], changes[i]);
  write(changes);
  return results_;
}

void postgres_edit::read() {
  postgres_array names, abouts;
  for (const auto& asked : requests_) {
    names.add_text(asked.name);
    abouts.add_id(asked.about.is_nil() ? std::optional<hold_id>{} : asked.about);
  }
  const auto script = connection_.begin() + connection_.execute("edit_take", names.str()) +
                      connection_.execute("edit_guard") + connection_.execute("edit_guard_permits") +
                      connection_.execute("edit_read", names.str(), abouts.str());
  open_ = true;
  for (const auto& row : connection_.script("edit", script)) {
    const auto at = static_cast<std::size_t>(integer_of(row[request])) - 1;
    switch (row[part].as<int>()) {
      case 0: read_lock(at, row); break;
      case 3: read_permit(at, row); break;
      default: read_waiter(at, row);
    }
  }
}

void postgres_edit::read_lock(std::size_t at, const pqxx::row& row) {
  if (!bool_of(row[found])) return;
  results_[at] = bool_of(row[taken]) ? edit_result::committed : edit_result::skipped;
  if (results_[at] == edit_result::skipped) return;
  auto& view = views_[at];
  view.row = {.name = requests_[at].name,
              .kind = model::parse_lock_kind(row[kind].c_str()),
              .capacity = integer_of(row[capacity]),
              .in_use = integer_of(row[in_use]),
              .token = integer_of(row[hold_token]),
              .next_ticket = integer_of(row[ticket]),
              .head_ticket = integer_of(row[head_ticket]),
              .lease = optional_id_of<lease_id>(row[lease]),
              .hold = optional_id_of<hold_id>(row[hold]),
              .has_queue = bool_of(row[has_queue]),
              .fair = bool_of(row[fair]),
              .delay = std::chrono::milliseconds{integer_of(row[delay_ms])}};
  view.replaceable = bool_of(row[replaceable]);
  view.holder = lease_of(row);
  view.epoch_floor = integer_of(row[epoch_floor]);
  view.is_recorded_server = bool_of(row[is_recorded_server]);
}

void postgres_edit::read_waiter(std::size_t at, const pqxx::row& row) {
  auto& view = views_[at];
  const model::waiter waiter{integer_of(row[ticket]), id_of<hold_id>(row[hold]), id_of<lease_id>(row[lease]),
                             integer_of(row[weight]), model::parse_lock_mode(row[mode].c_str())};
  if (row[part].as<int>() == 2) {
    view.own = waiter;
  } else {
    view.add_waiter(waiter, lease_of(row));
  }
}

void postgres_edit::read_permit(std::size_t at, const pqxx::row& row) {
  const model::permit permit{id_of<hold_id>(row[hold]), id_of<lease_id>(row[lease]), integer_of(row[weight]),
                             integer_of(row[hold_token])};
  views_[at].permits.push_back({permit, lease_of(row), !bool_of(row[replaceable])});
}

void postgres_edit::write(std::span<const lock_change> changes) {
  if (std::all_of(changes.begin(), changes.end(), [](const lock_change& change) { return change.empty(); })) {
    return;  // rolled back
  }
  edit_script script{connection_};
  for (std::size_t i = 0; i < changes.size(); ++i) script.add(requests_[i].name, changes[i]);
  connection_.script("edit", script.text());
  open_ = false;
}

}  // namespace rowlock::store
