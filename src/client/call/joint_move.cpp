#include "client/call/joint_move.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

bool has_moved(const decision& made) {
  return made.outcome.result == outcome::what::granted;
}

}  // namespace

joint_move::joint_move(engine& on, std::vector<model::lock_request> locks, std::vector<hold_ptr> from,
                       std::chrono::milliseconds ttl, std::chrono::milliseconds min_hold)
    : engine_(on), locks_(std::move(locks)), from_(std::move(from)), min_hold_(min_hold) {
  for (const auto& hold : from_) {
    in_use_.push_back(engine_.services().queue.ids().use(hold->id()));
    leases_.push_back(
        engine_.environment().process.lease(model::lease_id::random(), hold->lease()->id(), ttl));
    for_withdraw_.push_back(provide(for_withdraw_.size()));
  }
  moved_.reserve(from_.size());
}

void joint_move::run(store::session& session) {
  edit_round edit{engine_.services(), from_.size()};
  const auto in_doubt_since = first_sent_at_;
  if (!first_sent_at_) first_sent_at_ = edit.sent_at();
  for_take_.clear();
  for (std::size_t i = 0; i < from_.size(); ++i) for_take_.push_back(provide(i));
  for (const auto& hold : from_) edit.add({hold->name(), hold->id(), hold->lease()->id()});
  edit.decide_together(session, [this](auto results, auto views) { return decide(results, views); });
  edit.follow_up(session);
  replies_ = edit.take_replies();
  if (!std::ranges::all_of(replies_, has_moved, &edit_reply::made)) {
    first_sent_at_ = in_doubt_since;  // a row that was locked says nothing of an earlier try
    return;
  }
  const bool by_this_try = replies_.front().made.change.durable;
  const auto sent_at = by_this_try ? edit.sent_at() : *first_sent_at_;
  for (std::size_t i = 0; i < from_.size(); ++i) take(i, sent_at, edit.check_count());
}

// Decides to move all holds, or none.
std::vector<decision> joint_move::decide(std::span<const store::edit_result> results,
                                         std::span<const store::lock_view> views) const {
  std::vector<decision> made(from_.size());
  for (std::size_t i = 0; i < from_.size(); ++i) {
    if (results[i] == store::edit_result::committed)
      made[i] = decide_move(views[i], from_[i]->id(), leases_[i]);
  }
  if (std::ranges::all_of(made, has_moved)) return made;
  for (auto& one : made) {
    if (!has_moved(one)) continue;
    one = {};
    one.outcome.result = outcome::what::absent;
  }
  return made;
}

joint_move::provision joint_move::provide(std::size_t i) const {
  const auto& record = leases_[i];
  return {std::make_shared<lease>(record.id, record.ttl, false, record.client), ending_of(from_[i]->name())};
}

void joint_move::withdraw(std::size_t i, provision with, instant sent_at) const noexcept {
  if (!with.ending) return;
  with.own->confirm(sent_at, engine_.environment().margin(with.own->ttl()));
  engine_.services().queue.submit(as_withdrawal(std::move(with.ending), from_[i]->id(), std::move(with.own)));
}

// From now on the registry has another object for the hold, on the new lease. A hold that was lost meanwhile
// is not taken, because its loss has been reported.
void joint_move::take(std::size_t i, instant sent_at, std::uint64_t check_count) {
  auto& old = *from_[i];
  const auto with = std::exchange(for_take_[i], {});
  try {
    if (!old.begin_release()) return withdraw(i, with, sent_at);
    engine_.holds().remove(old);
    const auto keep_until =
        min_hold_ > std::chrono::milliseconds{0} ? engine_.environment().time.now() + min_hold_ : instant{};
    with.own->confirm(sent_at, engine_.environment().margin(with.own->ttl()));
    auto taken =
        engine_.services().complete.make_hold({locks_[i].definition, old.id(), old.token(), with.own,
                                               old.mode(), old.weight(), with.ending, old.grant().at},
                                              check_count, old.is_contended(), keep_until);
    taken ? moved_.push_back(std::move(taken)) : withdraw(i, with, sent_at);
  } catch (...) {
    withdraw(i, with, sent_at);
    throw;
  }
}

joint_move::result joint_move::outcome() const {
  if (moved_.size() == from_.size()) return result::moved;
  const auto is_locked = [](const edit_reply& one) { return one.state == edit_state::locked; };
  return std::ranges::any_of(replies_, is_locked) ? result::again : result::lost;
}

// Also ends the new leases, even if the holds still stand on their old ones: the release of a hold ends its
// explicit-ttl lease.
void joint_move::withdraw() const noexcept {
  const auto now = engine_.environment().time.now();
  for (std::size_t i = 0; i < from_.size(); ++i) {
    from_[i]->begin_release();
    engine_.holds().remove_ended(*from_[i]);
    withdraw(i, std::exchange(for_withdraw_[i], {}), now);
  }
}

void joint_move::drop_moved() noexcept {
  for (const auto& hold : moved_) {
    hold->set_keep_until({});
    if (hold->begin_release()) {
      auto ending = hold->take_ending();
      ending->answer.reset();
      engine_.services().queue.submit(std::move(ending));
    }
    engine_.holds().remove_ended(*hold);
  }
}

}  // namespace rowlock::client_layer
