#include "client/joint_round.hpp"

#include "client/after_commit.hpp"
#include "client/history_lines.hpp"

#include <utility>

namespace rowlock::client_layer {

namespace {

using what = outcome::what;

}  // namespace

void joint_round::run(store::session& session) {
  if (!lease) return;
  prepare();
  checks = on.holds().checks();
  if (looks) return find(session);
  std::vector<store::edit_request> requests;
  for (const auto& wish : wishes) requests.push_back({wish.definition.name, wish.hold, {}});
  const std::chrono::microseconds skew = on.shared().skew();
  results = session.edit_together(requests, [&](auto outcomes, auto views) {
    made = decide_acquire_together(outcomes, views, wishes, all, skew);
    std::vector<store::lock_change> changes;
    for (std::size_t i = 0; i < made.size(); ++i) {
      record(on.shared(), wishes[i].definition.name, views[i], made[i].change);
      changes.push_back(made[i].change);
    }
    return changes;
  });
  do_after_commit(session);
  for (std::size_t i = 0; i < made.size() && made[i].outcome.result == what::granted; ++i) {
    const auto& change = made[i].change;
    take(i, made[i].outcome.token, made[i].outcome.weight, change.row && change.row->has_queue);
  }
}

// Only reads, so it finds a grant even while somebody has the row locked.
void joint_round::find(store::session& session) {
  std::vector<store::hold_query> queries;
  for (const auto& wish : wishes) queries.push_back({wish.definition.name, wish.hold});
  const auto found = session.find(queries);
  if (!found.empty() && found.front().state == store::hold_status::where::held)
    session.make_durable(lease->id());
  for (std::size_t i = 0; i < found.size() && found[i].state == store::hold_status::where::held; ++i) {
    const auto& wish = wishes[i];
    const bool shared = wish.mode == model::lock_mode::shared;
    take(i, found[i].token, shared ? wish.weight : wish.definition.capacity, found[i].has_queue);
  }
}

void joint_round::do_after_commit(store::session& session) {
  after_commit todo{checks};
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (results[i] == store::edit_result::missing) todo.add_missing(wishes[i].definition);
    todo.add(on.parts(), wishes[i].definition.name, made[i]);
  }
  todo.run(on.shared(), [&](auto work) { return work(session); });
}

void joint_round::take(std::size_t i, model::token token, std::int64_t weight, bool contended) {
  if (i > holds.size()) return;
  const auto& wish = wishes[i];
  auto hold = on.parts().complete.make_hold(
      {wish.definition, wish.hold, token, lease, wish.mode, weight, endings[i]}, checks, contended);
  if (!hold) return;
  endings[i].reset();
  holds.push_back(std::move(hold));
  on.shared().count.acquired.fetch_add(1, std::memory_order_relaxed);
}

joint_round::state joint_round::what_is_missing() const {
  bool locked = false;
  bool again = false;
  bool busy = false;
  bool first = true;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& decided = made[i].outcome;
    if (decided.result == what::granted) {
      if (i >= holds.size()) return state::lapsed;
      continue;
    }
    if (decided.result == what::mismatch) throw mismatch(wishes[i].definition, decided.stored);
    if (!all && !std::exchange(first, false)) continue;
    if (results[i] == store::edit_result::skipped) {
      locked = true;
    } else if (results[i] == store::edit_result::missing || decided.must_retry()) {
      again = true;
    } else if (decided.result == what::busy) {
      busy = true;
    }
  }
  return busy ? state::busy : again ? state::again : locked ? state::locked : state::granted;
}

void joint_round::prepare() {
  holds.reserve(wishes.size());
  while (endings.size() < wishes.size()) endings.push_back(ending_of(wishes[endings.size()].definition.name));
}

void joint_round::withdraw() const noexcept {
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (holds[i]->begin_release()) endings[i] = holds[i]->take_ending();
    on.holds().remove(*holds[i]);
  }
  withdraw_from(0);
}

void joint_round::withdraw_from(std::size_t first) const noexcept {
  if (!lease) return;
  release_list operations;
  for (std::size_t i = first; i < endings.size(); ++i) {
    auto ending = std::exchange(endings[i], nullptr);
    if (ending) operations.push(as_withdrawal(std::move(ending), wishes[i].hold, lease));
  }
  on.parts().queue.submit(std::move(operations));
}

}  // namespace rowlock::client_layer
