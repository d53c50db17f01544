#include "store/mysql/mysql_edit.hpp"

#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_transaction.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rowlock::store {

namespace {

// Columns of edit_read.
enum column : std::size_t {
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
  kind,
  capacity,
  in_use,
  has_queue,
  fair,
  delay_ms,
  epoch_floor,
  is_recorded_server,
  head_ticket,
  columns
};

std::optional<model::lease_view> lease_of(const mysql_row& row) {
  if (!row[client]) return {};
  return model::lease_view{id_of<lease_id>(row[lease]), id_of<lease_id>(row[client]),
                           std::chrono::microseconds{integer_of(row[expires_us])}};
}

}  // namespace

mysql_values lease_values(const lease_record& made) {
  return {{"lease", made.id.to_string()},
          {"client", made.client.to_string()},
          mysql_text("host", made.host),
          {"pid", made.pid},
          mysql_text("application", made.application),
          {"ttl_ms", made.ttl.count()}};
}

mysql_edit::mysql_edit(mysql_connection& connection, const std::string& identity,
                       std::span<const edit_request> requests)
    : connection_{connection},
      identity_{identity},
      requests_{requests},
      results_(requests.size(), edit_result::missing),
      views_(requests.size()) {}

std::vector<edit_result> mysql_edit::run(const joint_decision& decide) {
  mysql_json batch;
  for (const auto& asked : requests_) {
    batch.row().hex(asked.name).id(asked.about).end_row();
  }
  const auto asked = batch.str();
  const mysql_statement first[] = {{"edit_take", {{"asked", asked}}}};
  mysql_transaction transaction{connection_, "edit", first};
  read(asked);
  // A gap that a user's transaction has locked, or a lease that is being renewed, is not waited for while the
  // locks' rows are held: all of it is made again after a pause.
  if (const auto last = writes(decide(results_, views_)); !last.empty()) {
    transaction.commit(last, mysql_connection::waiting::never);
  }
  return results_;
}

void mysql_edit::read(const std::string& asked) {
  for (const auto& row :
       connection_.read("edit_read", columns, {{"asked", asked}, mysql_text("identity", identity_)})) {
    const auto at = static_cast<std::size_t>(integer_of(row[request])) - 1;
    switch (integer_of(row[part])) {
      case 0: read_lock(at, row); break;
      case 3: read_permit(at, row); break;
      default: read_own(at, row);
    }
  }
  for (std::size_t at = 0; at < views_.size(); ++at) {
    if (views_[at].row.has_queue) read_queue(at);
  }
  read_guards();
}

// The guard of a permit locks that permit alone. Those of a latch or a barrier are nobody's to guard.
void mysql_edit::read_guards() {
  mysql_json names;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < views_.size(); ++at) {
    if (views_[at].permits.empty() || model::is_rendezvous(views_[at].row.kind)) continue;
    names.hex(requests_[at].name);
    places.push_back(at);
  }
  if (names.empty()) return;
  std::set<std::pair<std::size_t, hold_id>> loose;
  for (const auto& row : connection_.read("edit_loose", 2, {{"names", names.str()}})) {
    loose.emplace(places.at(static_cast<std::size_t>(integer_of(row[0])) - 1), id_of<hold_id>(row[1]));
  }
  for (const auto at : places) {
    for (auto& entry : views_[at].permits) {
      entry.guarded = !loose.contains({at, entry.permit.hold});
      if (entry.guarded) views_[at].replaceable = false;
    }
  }
}

// The guard of an exclusive hold keeps everybody from the row: what is not skipped has none.
void mysql_edit::read_lock(std::size_t at, const mysql_row& row) {
  if (!bool_of(row[found])) return;
  results_[at] = bool_of(row[taken]) ? edit_result::committed : edit_result::skipped;
  if (results_[at] == edit_result::skipped) return;
  auto& view = views_[at];
  view.row = {.name = requests_[at].name,
              .kind = model::parse_lock_kind(text_of(row[kind])),
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
  view.holder = lease_of(row);
  view.epoch_floor = integer_of(row[epoch_floor]);
  view.is_recorded_server = bool_of(row[is_recorded_server]);
}

void mysql_edit::read_own(std::size_t at, const mysql_row& row) {
  views_[at].own =
      model::waiter{integer_of(row[ticket]), id_of<hold_id>(row[hold]), id_of<lease_id>(row[lease]),
                    integer_of(row[weight]), model::parse_lock_mode(text_of(row[mode]))};
}

// A statement of its own for each name: only with a constant name does the server begin at the head, and not
// at the rows of those who left the queue, which stay as long as an old snapshot lives.
void mysql_edit::read_queue(std::size_t at) {
  auto& view = views_[at];
  for (const auto& row : connection_.read(
           "edit_queue", 7, {mysql_text("name", requests_[at].name), {"head", view.row.head_ticket}})) {
    std::optional<model::lease_view> living;
    if (row[3]) {
      living = model::lease_view{id_of<lease_id>(row[1]), id_of<lease_id>(row[3]),
                                 std::chrono::microseconds{integer_of(row[4])}};
    }
    view.add_waiter({integer_of(row[0]), id_of<hold_id>(row[2]), id_of<lease_id>(row[1]), integer_of(row[5]),
                     model::parse_lock_mode(text_of(row[6]))},
                    living);
  }
}

void mysql_edit::read_permit(std::size_t at, const mysql_row& row) {
  const model::permit permit{id_of<hold_id>(row[hold]), id_of<lease_id>(row[lease]), integer_of(row[weight]),
                             integer_of(row[hold_token])};
  views_[at].permits.push_back({permit, lease_of(row)});
}

// One statement a table. Every change is durable: InnoDB knows no other commit of one session's.
std::vector<mysql_statement> mysql_edit::writes(std::span<const lock_change> changes) const {
  std::vector<mysql_statement> result;
  mysql_json rows, enqueued, dequeued, removed, added, ended, noticed, proclaimed;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& name = requests_[i].name;
    const auto& change = changes[i];
    for (const auto& made : change.create_leases) result.push_back({"create_lease", lease_values(made)});
    if (const auto& row = change.row) {
      rows.row().hex(name).number(row->capacity).number(row->in_use).number(row->token);
      rows.number(row->next_ticket).id(row->lease).id(row->hold);
      rows.number(row->has_queue ? 1 : 0).number(change.granted_now ? 1 : 0).number(row->head_ticket);
      rows.end_row();
    }
    for (const auto& waiter : change.enqueue) {
      enqueued.row().hex(name).number(waiter.ticket).id(waiter.hold).id(waiter.lease);
      enqueued.number(waiter.weight).word(to_string(waiter.mode)).end_row();
    }
    for (const auto& gone : change.dequeue) dequeued.row().hex(name).id(gone).end_row();
    for (const auto& gone : change.remove_permits) removed.row().hex(name).id(gone).end_row();
    for (const auto& permit : change.add_permits) {
      added.row().hex(name).id(permit.hold).id(permit.lease).number(permit.weight).number(permit.token);
      added.end_row();
    }
    if (const auto& asked = change.request) {
      result.push_back({"write_request",
                        {mysql_text("name", name),
                         {"token", asked->upto},
                         {"within_ms", std::int64_t{asked->within.count()}},
                         mysql_text("reason", asked->reason)}});
    }
    if (change.value) proclaimed.row().hex(name).hex(*change.value).end_row();
    for (const auto& id : change.end_leases) ended.id(id);
    for (const auto& id : change.notices) noticed.id(id);
  }
  const auto add = [&](const char* query, const char* name, const mysql_json& batch) {
    if (!batch.empty()) result.push_back({query, {{name, batch.str()}}});
  };
  add("dequeue", "dequeue", dequeued);
  add("enqueue", "enqueue", enqueued);
  add("remove_permits", "removed", removed);
  add("add_permits", "added", added);
  add("write_lock", "rows", rows);
  add("write_value", "proclaimed", proclaimed);
  add("edit_end_leases", "ended", ended);
  add("notice", "noticed", noticed);
  return result;
}

}  // namespace rowlock::store
