#include "client/core/history_lines.hpp"

#include "client/base/errors.hpp"
#include "model/names.hpp"
#include "store/history_verbs.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace rowlock::client_layer {

namespace {

using model::rests;
using store::history_event;

constexpr std::size_t lines_at_once = 1000;
constexpr std::size_t reason_bytes_at_most = 512;
// The column of MariaDB and MySQL can hold no more; the other stores keep to the same limit.
constexpr std::size_t detail_bytes_at_most = 1024;

struct standing_hold {
  model::hold_id hold;
  model::lease_id lease;
  model::token token = 0;
  bool is_alive = true;
};

using holds = std::vector<standing_hold>;

const standing_hold* find(const holds& all, model::hold_id hold) {
  const auto found = std::ranges::find(all, hold, &standing_hold::hold);
  return found == all.end() ? nullptr : &*found;
}

holds holds_before(const store::lock_view& view) {
  holds all;
  const auto& row = view.row;
  if (row.lease && row.hold && !rests(*row.hold, *row.lease)) {
    all.push_back({*row.hold, *row.lease, row.token, view.holder.has_value()});
  }
  for (const auto& [permit, lease, guarded] : view.permits) {
    if (!rests(permit.hold, permit.lease))
      all.push_back({permit.hold, permit.lease, permit.token, lease.has_value()});
  }
  return all;
}

holds holds_after(const store::lock_view& view, const store::lock_change& change) {
  holds all;
  const auto& row = change.row ? *change.row : view.row;
  if (row.lease && row.hold && !rests(*row.hold, *row.lease))
    all.push_back({*row.hold, *row.lease, row.token});
  for (const auto& entry : view.permits) {
    const auto& permit = entry.permit;
    const bool stays = std::ranges::find(change.remove_permits, permit.hold) == change.remove_permits.end();
    if (stays && !rests(permit.hold, permit.lease)) all.push_back({permit.hold, permit.lease, permit.token});
  }
  for (const auto& permit : change.add_permits) {
    if (!rests(permit.hold, permit.lease)) all.push_back({permit.hold, permit.lease, permit.token});
  }
  return all;
}

std::optional<model::waiter> waiter_of(const store::lock_view& view, model::hold_id hold) {
  for (const auto& entry : view.queue) {
    if (entry.waiter.hold == hold) return entry.waiter;
  }
  if (view.own && view.own->hold == hold) return view.own;
  return {};
}

// The detail, cut to the limit without half a character at the end.
std::string fitting(const std::string& detail) {
  return detail.size() <= detail_bytes_at_most
             ? detail
             : model::printable(std::string_view{detail}.substr(0, detail_bytes_at_most));
}

std::string described(const process_identity& who) {
  return fmt::format("by {}@{}:{} {}", who.user, who.host, who.pid, who.application);
}

// A process that reclaims a hold knows that the holder has died, although the lease still lives.
store::history_entry end_of(const standing_hold& old, intent why, const std::string& by) {
  const auto made = [&](history_event event, const std::string& detail) {
    return store::history_entry{event, old.token, old.hold, old.lease, detail};
  };
  if (!old.is_alive) return made(history_event::lost, "");
  switch (why) {
    case intent::force: return made(history_event::forced, by);
    case intent::reclaim: return made(history_event::lost, "reclaimed " + by);
    case intent::use: break;
  }
  return made(history_event::released, "");
}

}  // namespace

std::vector<store::history_entry> history_lines(const store::lock_view& before,
                                                const store::lock_change& change, intent why,
                                                const std::string& by) {
  std::vector<store::history_entry> lines;
  if (change.empty() || model::is_rendezvous(before.row.kind)) return lines;
  const auto held = holds_before(before);
  const auto holds = holds_after(before, change);
  const auto moved_from = [&](const standing_hold& one) {
    return std::ranges::any_of(held, [&](const auto& old) { return old.token == one.token; });
  };
  const auto moved_to = [&](const standing_hold& old) {
    return std::ranges::any_of(holds, [&](const auto& one) { return one.token == old.token; });
  };
  for (const auto& old : held) {
    // A dead hold's id may stand again, on another lease: the lock was granted to the same request anew.
    if ((old.is_alive && find(holds, old.hold)) || moved_to(old)) continue;
    lines.push_back(end_of(old, why, by));
  }
  if (change.request) {
    const auto reason = model::printable(change.request->reason.substr(0, reason_bytes_at_most));
    lines.push_back({history_event::requested,
                     change.request->upto,
                     {},
                     {},
                     reason.empty() ? by : fmt::format("{}: {}", by, reason)});
  }
  for (const auto& gone : change.dequeue) {
    const auto waiter = waiter_of(before, gone);
    if (!find(holds, gone))
      lines.push_back({history_event::left, 0, gone, waiter ? waiter->lease : model::lease_id{}});
  }
  std::vector<standing_hold> begun;
  for (const auto& one : holds) {
    const auto* old = find(held, one.hold);
    if (!old || old->token != one.token) begun.push_back(one);
  }
  std::ranges::sort(begun, {}, &standing_hold::token);
  for (const auto& one : begun) {
    // An exclusive hold that stays exclusive gets another token only if somebody raises it.
    const bool raised = before.row.hold == one.hold && before.row.lease == one.lease;
    const auto event = raised || moved_from(one)     ? history_event::moved
                       : waiter_of(before, one.hold) ? history_event::handed_over
                                                     : history_event::granted;
    lines.push_back({event, one.token, one.hold, one.lease,
                     raised ? fmt::format("from token {}", before.row.token) : ""});
  }
  for (const auto& waiter : change.enqueue)
    lines.push_back({history_event::queued, 0, waiter.hold, waiter.lease});
  for (auto& line : lines) line.detail = fitting(line.detail);
  return lines;
}

void record(client_environment& environment, const std::string& name, const store::lock_view& before,
            store::lock_change& change, intent why) {
  if (!environment.recorded.contains(name)) return;
  change.history = history_lines(before, change, why, described(environment.process));
  if (!change.history.empty()) environment.recorded.note_written(name);
}

void update_recorded(client_environment& environment, store::session& session, std::int64_t version) {
  if (version == environment.recorded.version()) return;
  std::vector<store::recording> recordings;
  try {
    recordings = session.history().recordings();
    if (!recordings.empty()) session.history().check_history();
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) throw;
    // If this client remembered the version now, it would not read the recordings of that version again.
    if (is_temporary(failure)) {
      environment.log(log_level::info, "cannot read which names are recorded: {}", failure.what());
      return;
    }
    recordings.clear();
    environment.log(log_level::warning, "this client records no history: {}", failure.what());
  }
  environment.recorded.use(version, std::move(recordings));
}

void prune_written(client_environment& environment, store::session& session) {
  for (const auto& name : environment.recorded.take_written()) {
    const auto what = environment.recorded.find(name);
    if (!what) continue;
    try {
      session.history().prune_history(name, what->keep, what->age, lines_at_once);
    } catch (const error& failure) {
      if (failure.code() == errc::unreachable) throw;
      environment.log(log_level::info, "cannot prune the history of {} now: {}", name, failure.what());
    }
  }
}

}  // namespace rowlock::client_layer
