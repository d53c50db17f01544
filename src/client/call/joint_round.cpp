#include "client/call/joint_round.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

using what = outcome::what;

}  // namespace

void joint_round::run(store::session& session) {
  if (!lease) return;
  prepare();
  looks ? find(session) : ask(session);
}

// Whether one statement may grant all: it decides from the locks' rows alone, writes no history, and wakes nobody.
bool joint_round::may_be_free() const {
  return wishes.size() > 1 && std::ranges::all_of(wishes, [&](const acquire_terms& wish) {
           const auto& lock = wish.definition;
           const bool is_simple =
               lock.kind == model::lock_kind::mutex || lock.kind == model::lock_kind::shared_mutex;
           return is_simple && wish.mode == model::lock_mode::exclusive &&
                  !on.environment().recorded.contains(lock.name) &&
                  !on.services().contended.contains(lock.name);
         });
}

bool joint_round::acquire_free(store::session& session) {
  std::vector<store::acquire_item> requests;
  for (const auto& wish : wishes) {
    const auto& lock = wish.definition;
    requests.push_back({lock.name, lock.kind, lock.capacity, lease->id(), wish.hold, lock.fair});
  }
  check_count = on.holds().check_count();
  const auto grants = session.acquire_all(requests);
  if (grants.empty()) return false;
  all_were_free = true;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const auto& wish = wishes[i];
    const auto granted = std::ranges::find(grants, wish.hold, &store::grant::hold);
    take(i, granted->token, wish.definition.capacity, false);
  }
  return true;
}

void joint_round::ask(store::session& session) {
  if (may_be_free() && acquire_free(session)) return;
  edit_round edit{on.services(), wishes.size()};
  check_count = edit.check_count();
  for (const auto& wish : wishes) edit.add({wish.definition.name, wish.hold, lease->id(), &wish.definition});
  const std::chrono::microseconds skew = on.environment().skew();
  edit.decide_together(session, [&](auto results, auto views) {
    return decide_acquire_together(results, views, wishes, all, skew);
  });
  edit.follow_up(session);
  replies = edit.take_replies();
  for (std::size_t i = 0; i < replies.size() && replies[i].made.outcome.result == what::granted; ++i) {
    const auto& [change, granted] = replies[i].made;
    take(i, granted.token, granted.weight, change.row && change.row->has_queue);
  }
}

// Only reads, so it finds a grant even while somebody has the row locked.
void joint_round::find(store::session& session) {
  check_count = on.holds().check_count();
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

void joint_round::take(std::size_t i, model::token token, std::int64_t weight, bool contended) {
  if (i > holds.size()) return;
  const auto& wish = wishes[i];
  auto hold = on.services().complete.make_hold(
      {wish.definition, wish.hold, token, lease, wish.mode, weight, endings[i]}, check_count, contended);
  if (!hold) return;
  endings[i].reset();
  on.services().complete.note_grant(*hold, called_at);
  holds.push_back(std::move(hold));
}

joint_round::state joint_round::what_is_missing() const {
  if (all_were_free) return holds.size() == wishes.size() ? state::granted : state::lapsed;
  bool locked = false;
  bool again = false;
  bool busy = false;
  bool first = true;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto& decided = replies[i].made.outcome;
    if (decided.result == what::granted) {
      if (i >= holds.size()) return state::lapsed;
      continue;
    }
    if (decided.result == what::mismatch) throw mismatch(wishes[i].definition, decided.stored);
    if (!all && !std::exchange(first, false)) continue;
    locked = locked || replies[i].state == edit_state::locked;
    again = again || replies[i].state == edit_state::again;
    busy = busy || (replies[i].state == edit_state::settled && decided.result == what::busy);
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
    on.holds().remove_ended(*holds[i]);
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
  on.services().queue.submit(std::move(operations));
}

}  // namespace rowlock::client_layer
