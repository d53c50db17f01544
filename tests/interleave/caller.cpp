#include "scene.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace rowlock::test {

using namespace std::chrono_literals;
using client_layer::outcome;
using what = client_layer::outcome::what;

namespace {

// The tests kill leases as soon as they have expired.
constexpr auto no_skew = 0us;

store::release_item giving_back(const wish& held) {
  return {held.item.name, held.item.lease, held.item.hold, held.item.mode};
}

std::vector<lease_id> leases_of(const std::vector<const wish*>& wishes) {
  std::vector<lease_id> leases;
  for (const auto* one : wishes) leases.push_back(one->item.lease);
  return leases;
}

client_layer::acquire_terms terms_of(const wish& wanted, bool may_wait) {
  const auto& item = wanted.item;
  client_layer::acquire_terms terms;
  terms.definition = {.name = item.name, .kind = item.kind, .capacity = item.capacity, .fair = item.fair};
  terms.mode = item.mode;
  terms.weight = item.mode == model::lock_mode::shared ? item.weight : 1;
  terms.lease = item.lease;
  terms.hold = item.hold;
  terms.wait = may_wait;
  return terms;
}

}  // namespace

// As statement_worker does, repeats after a pause what failed because of another transaction.
void caller::again(const std::function<void()>& verb) {
  for (;;) {
    try {
      return verb();
    } catch (const error& failure) {
      if (failure.code() != errc::contention) throw;
    }
    step_scheduler::wait_for_others();
  }
}

// Repairs what must be right before the same request is decided again (edit_round.cpp).
bool caller::prepare(const outcome& made) {
  if (!made.must_retry()) return false;
  if (made.result == what::expired) again([&] { session_.kill(made.leases, no_skew); });
  if (made.result == what::unrecorded_server) again([&] { session_.record_database_state(); });
  return true;
}

outcome caller::edit(const wish& about,
                     const std::function<client_layer::decision(const store::lock_view&)>& decide) {
  for (;;) {
    outcome made;
    auto result = store::edit_result::skipped;
    again([&] {
      const store::edit_request request{
          .name = about.item.name, .about = about.item.hold, .decide = [&](const auto& view) {
            auto decided = decide(view);
            made = std::move(decided.outcome);
            return std::move(decided.change);
          }};
      result = session_.edit({&request, 1}).front();
    });
    switch (result) {
      case store::edit_result::skipped: step_scheduler::wait_for_others(); continue;
      case store::edit_result::missing: {
        const auto& item = about.item;
        const model::lock_definition wanted{
            .name = item.name, .kind = item.kind, .capacity = item.capacity, .fair = item.fair};
        again([&] { session_.create({&wanted, 1}); });
        continue;
      }
      case store::edit_result::committed: break;
    }
    if (made.result == what::guarded) {
      step_scheduler::wait_for_others();
      continue;
    }
    if (!prepare(made)) return made;
  }
}

void caller::acquire(wish& wanted, bool may_wait) {
  std::vector<store::grant> grants;
  again([&] { grants = session_.acquire({&wanted.item, 1}); });
  if (!grants.empty()) {
    wanted.is = wish::belief::holds;
    wanted.token = grants.front().token;
    return;
  }
  if (may_wait && wanted.item.mode == model::lock_mode::exclusive) {
    bool queued = false;
    again([&] { queued = session_.enqueue(wanted.item, no_skew).has_value(); });
    if (queued) {
      wanted.is = wish::belief::waits;
      return;
    }
  }
  edit_acquire(wanted, may_wait);
}

void caller::edit_acquire(wish& wanted, bool may_wait) {
  const auto made = edit(wanted, [&](const auto& view) {
    return client_layer::decide_acquire(view, terms_of(wanted, may_wait), no_skew);
  });
  if (made.result == what::granted) {
    wanted.is = wish::belief::holds;
    wanted.token = made.token;
  } else {
    wanted.is = made.result == what::queued ? wish::belief::waits : wish::belief::refused;
  }
}

void caller::release(wish& held) {
  const auto request = giving_back(held);
  bool done = false;
  again([&] { done = !session_.release({&request, 1}, store::durability::durable).empty(); });
  if (!done && held.item.mode == model::lock_mode::exclusive) {
    again([&] { done = session_.hand_over(request, no_skew).has_value(); });
  }
  if (!done) return withdraw(held);
  held.is = wish::belief::released;
}

void caller::release_batch(const std::vector<wish*>& held) {
  std::vector<store::release_item> items;
  for (const auto* one : held) items.push_back(giving_back(*one));
  std::vector<model::hold_id> released;
  again([&] {
    for (const auto& one : session_.release(items, store::durability::durable)) released.push_back(one);
  });
  for (auto* one : held) {
    if (std::ranges::find(released, one->item.hold) == released.end()) {
      withdraw(*one);
    } else {
      one->is = wish::belief::released;
    }
  }
}

std::vector<wish*> caller::acquire_all(const std::vector<wish*>& wanted) {
  std::vector<store::acquire_item> items;
  for (const auto* one : wanted) items.push_back(one->item);
  std::vector<store::grant> grants;
  again([&] { grants = session_.acquire(items); });
  std::vector<wish*> held;
  for (auto* one : wanted) {
    const auto granted = std::ranges::find(grants, one->item.hold, &store::grant::hold);
    one->is = granted == grants.end() ? wish::belief::refused : wish::belief::holds;
    if (granted == grants.end()) continue;
    one->token = granted->token;
    held.push_back(one);
  }
  return held;
}

void caller::acquire_together(const std::vector<wish*>& wanted) {
  std::vector<store::acquire_item> items;
  for (const auto* one : wanted) items.push_back(one->item);
  std::vector<store::grant> grants;
  again([&] { grants = session_.acquire_all(items); });
  EXPECT_TRUE(grants.empty() || grants.size() == items.size()) << grants.size() << " of " << items.size();
  for (auto* one : wanted) {
    const auto granted = std::ranges::find(grants, one->item.hold, &store::grant::hold);
    one->is = granted == grants.end() ? wish::belief::refused : wish::belief::holds;
    if (granted != grants.end()) one->token = granted->token;
  }
}

void caller::renew(const std::vector<const wish*>& of) {
  again([&] { session_.renew(leases_of(of)); });
}

void caller::kill(const std::vector<const wish*>& of) {
  again([&] { session_.kill(leases_of(of), no_skew); });
}

void caller::end(const std::vector<const wish*>& of) {
  for (const auto* one : of) scene_.rules().may_end(one->item.lease.to_string());
  again([&] { session_.end(leases_of(of)); });
}

void caller::write_guarded(const wish& by) {
  const auto& [name, hold] = std::pair{by.item.name, by.item.hold};
  const auto transaction = scene_.on().fixture().guard(name, hold, by.item.mode);
  if (!transaction) return;
  scene_.rules().guard(name, hold.to_string());
  step_scheduler::stop_before("(the user's write)");
  step_scheduler::stop_before("(the user's end of the transaction)");
  scene_.rules().unguard(name);
}

void caller::withdraw(wish& waiting) {
  edit(waiting, [&](const auto& view) {
    return client_layer::decide_release(view, {.hold = waiting.item.hold}, no_skew);
  });
  waiting.is = wish::belief::released;
}

void caller::force(const std::string& name) {
  wish any;
  any.item.name = name;
  edit(any, [](const auto& view) { return client_layer::decide_force(view, {}, no_skew); });
}

void caller::sweep(const std::string& name) {
  wish any;
  any.item.name = name;
  edit(any, [](const auto& view) { return client_layer::decide_sweep(view, no_skew); });
}

void caller::downgrade(wish& held) {
  const auto made = edit(
      held, [&](const auto& view) { return client_layer::decide_downgrade(view, held.item.hold, no_skew); });
  if (made.result == what::granted) held.item.mode = model::lock_mode::shared;
}

void caller::reduce(wish& held, std::int64_t weight) {
  const auto made = edit(held, [&](const auto& view) {
    return client_layer::decide_reduce(view, held.item.hold, weight, no_skew);
  });
  if (made.result == what::granted) held.item.weight = weight;
}

void caller::upgrade(wish& held) {
  const auto made = edit(
      held, [&](const auto& view) { return client_layer::decide_upgrade(view, held.item.hold, no_skew); });
  if (made.result != what::granted) return;
  held.item.mode = model::lock_mode::exclusive;
  held.token = made.token;
}

void caller::look(wish& waiting) {
  const store::hold_query query{waiting.item.name, waiting.item.hold};
  store::hold_status status;
  again([&] { status = session_.find({&query, 1}).front(); });
  if (status.state != store::hold_status::where::held) return;
  waiting.is = wish::belief::holds;
  waiting.token = status.token;
}

// As slow_path does with a batch: one edit of all names, and a second one of those that were skipped.
void caller::release_all(std::vector<wish*> held) {
  std::ranges::sort(held, {}, [](const wish* one) { return one->item.name; });
  while (!held.empty()) {
    std::vector<store::edit_result> results;
    std::vector<outcome> made(held.size());
    again([&] {
      std::vector<store::edit_request> requests;
      for (std::size_t i = 0; i < held.size(); ++i) {
        requests.push_back({held[i]->item.name, held[i]->item.hold, [&, i](const auto& view) {
                              auto decided =
                                  client_layer::decide_release(view, {.hold = held[i]->item.hold}, no_skew);
                              made[i] = std::move(decided.outcome);
                              return std::move(decided.change);
                            }});
      }
      results = session_.edit(requests);
    });
    std::vector<wish*> rest;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (results[i] == store::edit_result::skipped || made[i].result == what::guarded || prepare(made[i])) {
        rest.push_back(held[i]);
      } else {
        held[i]->is = wish::belief::released;
      }
    }
    held = std::move(rest);
    if (!held.empty()) step_scheduler::wait_for_others();
  }
}

}  // namespace rowlock::test
