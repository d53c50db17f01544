// Holds that move from one process to another: transfer and adopt, receipt and reclaim.
#include "client/client_test.hpp"

#include "client/call/transfer.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

#include <unistd.h>

#include <map>

namespace rowlock::test {
namespace {

class transfer_test : public client_test {
 protected:
  // A hold that another process, on this machine or another one, has left behind.
  struct left_behind {
    model::lease_id lease = model::lease_id::random();
    model::hold_id hold = model::hold_id::random();
    std::string receipt;
    std::int64_t token = 0;
  };
  left_behind hold_of_the_dead(const model::lock_definition& lock, std::optional<std::int64_t> weight = {}) {
    left_behind made;
    store::lease_record record;
    record.id = record.client = made.lease;
    record.host = "elsewhere";
    record.pid = 1;
    record.ttl = 1h;
    side().record_database_state();
    side().create_lease(record);
    side().create({&lock, 1});
    store::acquire_item request{lock.name, lock.kind, lock.capacity, made.lease, made.hold};
    if (weight) {
      request.mode = model::lock_mode::shared;
      request.weight = *weight;
    }
    const auto granted = side().acquire({&request, 1});
    made.token = granted.at(0).token;
    made.receipt = client_layer::transfer_note{client_layer::transfer_note::purpose::reclaim, made.lease,
                                               made.hold, lock.name}
                       .to_string();
    return made;
  }
  // The receipt of the process that started this one, with that process's pid.
  std::string receipt_of_parent(const std::string& name, const std::string& birth = {}) {
    const hold known = mutex(db, "known").acquire();
    auto record = side().show("known")->holders.front().lease;
    record.id = record.client = model::lease_id::random();
    record.pid = ::getppid();
    side().create_lease(record);
    const model::lock_definition lock{name};
    side().create({&lock, 1});
    const auto its = model::hold_id::random();
    const store::acquire_item request{name, model::lock_kind::mutex, 1, record.id, its};
    EXPECT_EQ(side().acquire({&request, 1}).size(), 1U);
    return client_layer::transfer_note{client_layer::transfer_note::purpose::reclaim, record.id, its, name,
                                       birth}
        .to_string();
  }

  client db = new_client(quick_to_renew());
  client other = new_client(quick_to_renew());
};

TEST_P(transfer_test, a_hold_is_adopted_with_its_token_and_kept) {
  hold held = mutex(db, "a/b").acquire();
  const auto stop = held.stop_token();
  const auto text = held.transfer(1h);
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::none);
  EXPECT_FALSE(mutex(other, "a/b").try_acquire()) << "nobody else can have it";
  auto taken = adopt(other, text);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken.name(), "a/b");
  EXPECT_NE(taken.id(), held.id()) << "one id, one acquisition";
  EXPECT_EQ(holder_of("a/b"), taken.id().to_string());
  EXPECT_EQ(taken.token(), held.token());
  const auto renewals = other.stats().renewals;
  ASSERT_TRUE(eventually([&] { return other.stats().renewals > renewals + 1; }));
  EXPECT_TRUE(taken);
  EXPECT_EQ(held.release(), release_result::released) << "as it was";
  EXPECT_TRUE(is_held("a/b"));
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_EQ(taken.release(), release_result::released);
  EXPECT_FALSE(is_held("a/b"));
}

TEST_P(transfer_test, who_waits_does_not_come_in_between) {
  hold held = mutex(db, "a").acquire();
  auto waiter = waiting(other, "a");
  auto taken = adopt(other, held.transfer(1h));
  ASSERT_TRUE(taken);
  EXPECT_EQ(queued("a"), 1U);
  taken.release();
  EXPECT_GT(waiter.take().token(), held.token());
}

TEST_P(transfer_test, one_of_several_adopts) {
  hold held = mutex(db, "a").acquire();
  const auto text = held.transfer(1h);
  const auto first = adopt(other, text);
  EXPECT_TRUE(first);
  EXPECT_FALSE(adopt(db, text));
  EXPECT_TRUE(is_held("a"));
}

// If a client had two holds with one id, the registry would know one of them, and the second would never learn of its
// loss.
TEST_P(transfer_test, a_client_adopts_one_text_once) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  auto first = adopt(other, text);
  ASSERT_TRUE(first);
  EXPECT_FALSE(adopt(other, text));
  EXPECT_TRUE(first);
  ASSERT_TRUE(admin{db}.release("a"));
  EXPECT_TRUE(eventually([&] { return first.loss() == loss::forced; }));
}

TEST_P(transfer_test, a_text_is_of_no_use_when_its_adopter_has_released) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  auto first = adopt(other, text);
  ASSERT_TRUE(first);
  const auto again = first.transfer(1h);
  EXPECT_NE(again, text);
  EXPECT_FALSE(adopt(other, text));
  auto second = adopt(other, again);
  ASSERT_TRUE(second);
  EXPECT_EQ(second.token(), first.token());
  second.release();
  EXPECT_FALSE(adopt(other, text));
  EXPECT_FALSE(adopt(other, again));
}

TEST_P(transfer_test, what_nobody_adopts_goes_to_who_comes_next) {
  hold held = mutex(db, "a").acquire();
  const auto text = held.transfer(1h);
  fixture().expire(lease_of("a"));
  const auto next = mutex(other, "a").try_acquire();
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), held.token());
  EXPECT_FALSE(adopt(db, text));
}

TEST_P(transfer_test, a_hold_with_an_explicit_ttl_ends_that_lease) {
  hold held = mutex(db, "a").acquire({.ttl = 1h});
  const auto own = lease_of("a");
  const auto taken = adopt(other, held.transfer(1h));
  ASSERT_TRUE(taken);
  EXPECT_TRUE(side().renew(std::vector{own}).renewed.empty());
}

TEST_P(transfer_test, permits_keep_their_weight_and_mode) {
  counting_semaphore slots{db, "s", 5};
  hold three = slots.acquire(3);
  const hold one = slots.acquire(1);
  auto taken = adopt(other, three.transfer(1h));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken.weight(), 3);
  EXPECT_EQ(slots.available(), 1);
  EXPECT_EQ(taken.release(), release_result::released);
  EXPECT_EQ(slots.available(), 4);
}

TEST_P(transfer_test, a_term_goes_on_in_another_process) {
  election here{db, "scheduler"};
  auto office = here.campaign();
  office.proclaim("the first");
  auto adopted = adopt(other, office.transfer(1h));
  ASSERT_TRUE(adopted);
  term successor{std::move(adopted)};
  EXPECT_EQ(successor.token(), office.token());
  EXPECT_EQ(here.observe().value, "the first") << "it is the same term";
  successor.proclaim("the second");
  EXPECT_EQ(here.observe().value, "the second");
  EXPECT_EQ(code_of([&] { office.proclaim("still me"); }), errc::hold_lost);
}

TEST_P(transfer_test, what_is_over_cannot_be_handed_over) {
  hold held = mutex(db, "a").acquire();
  held.release();
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(1s); }), errc::hold_lost);
  EXPECT_EQ(code_of([&] { std::ignore = hold{}.transfer(1s); }), errc::hold_lost);
  hold again = mutex(db, "a").acquire();
  std::ignore = again.transfer(1h);
  EXPECT_EQ(code_of([&] { std::ignore = again.transfer(1s); }), errc::hold_lost);
}

TEST_P(transfer_test, refuses_impossible_times_and_texts) {
  hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(99ms); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(25h); }), errc::invalid_argument);
  EXPECT_TRUE(held);
  const auto receipt = held.receipt();
  for (const std::string& text : {std::string{}, std::string{"x"}, receipt, receipt.substr(0, 60)}) {
    EXPECT_EQ(code_of([&] { std::ignore = adopt(db, text); }), errc::invalid_argument);
  }
  EXPECT_EQ(code_of([&] { std::ignore = reclaim(db, held.transfer(1h)); }), errc::invalid_argument);
}

// A text from which something was cut off, or to which something was added, must not be taken for another lock's text,
// which nobody holds.
TEST_P(transfer_test, refuses_a_text_that_is_not_whole) {
  hold held = mutex(db, "billing/nightly").acquire();
  const auto receipt = held.receipt();
  const auto text = held.transfer(1h);
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(code_of([&] { std::ignore = adopt(db, text.substr(0, length)); }), errc::invalid_argument)
        << length;
  }
  for (std::size_t length = 0; length < receipt.size(); ++length) {
    EXPECT_EQ(code_of([&] { std::ignore = reclaim(db, receipt.substr(0, length)); }), errc::invalid_argument)
        << length;
  }
  for (const std::string more : {" ", "\n", "x", "/"}) {
    EXPECT_EQ(code_of([&] { std::ignore = adopt(db, text + more); }), errc::invalid_argument) << more;
    EXPECT_EQ(code_of([&] { std::ignore = reclaim(db, receipt + more); }), errc::invalid_argument) << more;
  }
  auto other_name = text;
  other_name.back() = 'Y';
  EXPECT_EQ(code_of([&] { std::ignore = adopt(db, other_name); }), errc::invalid_argument);
  EXPECT_TRUE(adopt(db, text));
}

TEST_P(transfer_test, a_recursive_hold_is_left_before_it_is_handed_over) {
  recursive_mutex r{db, "r"};
  hold outer = r.acquire();
  hold inner = r.acquire();
  EXPECT_EQ(code_of([&] { std::ignore = inner.transfer(1h); }), errc::invalid_argument);
  inner.release();
  EXPECT_TRUE(adopt(other, outer.transfer(1h)));
}

TEST_P(transfer_test, a_restarted_program_reclaims_with_a_new_token_and_before_who_waits) {
  const auto dead = hold_of_the_dead({"a"});
  auto waiter = waiting(db, "a");
  auto mine = reclaim(other, dead.receipt);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine.name(), "a");
  EXPECT_GT(mine.token().value(), dead.token);
  EXPECT_NE(mine.id(), dead.hold);
  EXPECT_EQ(holder_of("a"), mine.id().to_string());
  EXPECT_EQ(queued("a"), 1U);
  EXPECT_FALSE(reclaim(db, dead.receipt)) << "once";
  mine.release();
  EXPECT_TRUE(waiter.take());
}

// Both holds would be valid until the first has learned of its loss.
TEST_P(transfer_test, a_history_says_who_has_reclaimed_a_hold) {
  admin operations{db};
  operations.record({"a", 100, 24h});
  const client recording = new_client();
  const auto dead = hold_of_the_dead({"a"});
  EXPECT_TRUE(reclaim(recording, dead.receipt));
  const auto lines = operations.history("a", 100);
  const auto lost = std::ranges::find(lines, "lost", &history_line::event);
  ASSERT_NE(lost, lines.end());
  EXPECT_EQ(lost->token.value(), dead.token);
  EXPECT_THAT(lost->detail, testing::StartsWith("reclaimed by "));
}

TEST_P(transfer_test, reclaims_nothing_from_this_process) {
  hold held = mutex(db, "a").acquire();
  const auto receipt = held.receipt();
  EXPECT_EQ(code_of([&] { std::ignore = reclaim(other, receipt); }), errc::contention)
      << "another client of it";
  EXPECT_EQ(code_of([&] { std::ignore = reclaim(db, receipt); }), errc::contention);
  EXPECT_TRUE(held);
  held.release();
  EXPECT_FALSE(reclaim(other, receipt));
}

TEST_P(transfer_test, who_was_taken_for_dead_is_told) {
  hold held = mutex(db, "a").acquire();
  // Reclaims as another process does, which cannot know that this process lives.
  const auto mine = client_layer::reclaim(
      *primitives::access::engine(other),
      {client_layer::transfer_note::purpose::reclaim, lease_of("a"), model::hold_id{held.id()}, "a"});
  ASSERT_TRUE(mine);
  ASSERT_TRUE(eventually([&] { return held.loss() != loss::none; }));
  EXPECT_EQ(held.release(), release_result::lost);
  EXPECT_EQ(holder_of("a"), mine->id().to_string());
  primitives::access::engine(other)->releaser().release(*mine);
}

TEST_P(transfer_test, reclaims_a_permit_and_a_readers_hold) {
  shared_mutex catalog{db, "c"};
  const hold beside = catalog.acquire_shared();
  const auto dead = hold_of_the_dead({"c", model::lock_kind::shared_mutex, model::shared_mutex_capacity}, 1);
  const auto mine = reclaim(other, dead.receipt);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine.weight(), 1);
  EXPECT_EQ(side().show("c")->row.in_use, 2);
  EXPECT_FALSE(shared_mutex(other, "c").try_acquire());
}

TEST_P(transfer_test, reclaims_nothing_from_the_dead) {
  hold held = mutex(db, "a").acquire();
  const auto receipt = held.receipt();
  for (const std::string name : {"a", "none"}) {
    const client_layer::transfer_note strange{client_layer::transfer_note::purpose::reclaim,
                                              model::lease_id::random(), model::hold_id{held.id()}, name};
    EXPECT_FALSE(reclaim(other, strange.to_string())) << name;
  }
  held.release();
  EXPECT_FALSE(reclaim(other, receipt));
}

// After a restart of its container, processes may get the same pids again.
TEST_P(transfer_test, reclaims_from_a_dead_process_whose_pid_another_one_has) {
  const auto parent = client_layer::birth_of(::getppid());
  ASSERT_NE(parent, "");
  for (const auto& [birth, lives] :
       std::map<std::string, bool>{{parent, true}, {parent + "0", false}, {"", true}}) {
    const auto receipt = receipt_of_parent("of " + birth, birth);
    if (lives) {
      EXPECT_EQ(code_of([&] { std::ignore = reclaim(other, receipt); }), errc::contention) << birth;
    } else {
      EXPECT_TRUE(reclaim(other, receipt)) << birth;
    }
  }
}

TEST_P(transfer_test, reclaims_nothing_from_a_process_of_this_machine_that_lives) {
  EXPECT_EQ(code_of([&] { std::ignore = reclaim(other, receipt_of_parent("a")); }), errc::contention);
}

TEST_P(transfer_test, an_offered_hold_is_extended_under_the_same_text) {
  const auto text = mutex(db, "a").acquire().transfer(1min);
  const auto left = [&] { return side().show("a")->holders.front().expires_in; };
  fixture().expire(lease_of("a"), -20s);
  ASSERT_LT(left(), 30s);
  EXPECT_TRUE(extend(other, text));
  EXPECT_GT(left(), 30s);
  const auto taken = adopt(other, text);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(extend(db, text)) << "it was adopted";
  EXPECT_TRUE(taken);
}

TEST_P(transfer_test, a_hold_moves_together_with_its_data) {
  std::string seen;
  const auto data = [&](const std::string& text) { return "data of " + (seen = text); };
  auto held = mutex(db, "a").acquire();
  held.set_data("before");
  const auto text = held.transfer(1min, data);
  EXPECT_EQ(seen, text);
  EXPECT_EQ(admin{other}.show("a")->holders.at(0).data, "data of " + text);
  EXPECT_TRUE(extend(other, text));

  auto permits = counting_semaphore(db, "b", 3).acquire(2);
  const auto of_permits = permits.transfer(1min, data);
  const auto holder = admin{other}.show("b")->holders.at(0);
  EXPECT_EQ(holder.data, "data of " + of_permits);
  EXPECT_EQ(holder.weight, 2);
  const auto taken = adopt(other, of_permits);
  ASSERT_TRUE(taken);
  EXPECT_EQ(admin{other}.show("b")->holders.at(0).data, "data of " + of_permits);
}

TEST_P(transfer_test, data_that_are_refused_leave_the_hold_as_it_was) {
  auto held = mutex(db, "a").acquire();
  held.set_data("before");
  EXPECT_EQ(code_of([&] { held.transfer(1min, [](const auto&) { return std::string(4097, 'x'); }); }),
            errc::invalid_argument);
  EXPECT_THROW(held.transfer(1min, [](const auto&) -> std::string { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_TRUE(held);
  EXPECT_EQ(admin{other}.show("a")->holders.at(0).data, "before");
}

TEST_P(transfer_test, an_offered_hold_is_released_without_an_adopter) {
  auto held = mutex(db, "a").acquire();
  const auto token = held.token();
  const auto text = held.transfer(1h);
  auto waiter = waiting(db, "a");
  EXPECT_EQ(release(other, text), release_result::released);
  EXPECT_GT(waiter.take().token(), token);
  EXPECT_EQ(release(other, text), release_result::lost);
  EXPECT_FALSE(adopt(other, text));

  const auto permits = counting_semaphore(db, "b", 3).acquire(2).transfer(1h);
  EXPECT_EQ(release(db, permits), release_result::released);
  EXPECT_TRUE(admin{other}.show("b")->holders.empty());
}

TEST_P(transfer_test, only_what_stands_as_it_was_offered_is_released) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  const auto adopted = adopt(other, text);
  ASSERT_TRUE(adopted);
  EXPECT_EQ(release(db, text), release_result::lost);
  EXPECT_EQ(side().show("a")->holders.size(), 1U);
  EXPECT_TRUE(adopted);
  EXPECT_EQ(code_of([&] { release(db, adopted.receipt()); }), errc::invalid_argument);

  const auto expired = mutex(db, "b").acquire().transfer(100ms);
  ASSERT_TRUE(eventually([&] { return side().show("b")->holders.front().expires_in < 0ms; }));
  const auto next = mutex(other, "b").try_acquire();  // kills the lease
  ASSERT_TRUE(next);
  EXPECT_EQ(release(db, expired), release_result::lost);
  EXPECT_TRUE(next);
}

TEST_P(transfer_test, a_process_knows_its_receipts_among_many_of_holds_that_are_over) {
  const hold held = mutex(db, "a").acquire();
  const auto receipt = held.receipt();
  for (int i = 0; i < 40; ++i) std::ignore = mutex(db, "b").acquire().receipt();
  EXPECT_EQ(code_of([&] { std::ignore = reclaim(db, receipt); }), errc::contention);
  EXPECT_TRUE(held);
}

TEST_P(transfer_test, an_expired_hold_is_not_extended) {
  const auto text = mutex(db, "a").acquire().transfer(100ms);
  ASSERT_TRUE(eventually([&] { return side().show("a")->holders.front().expires_in < 0ms; }));
  EXPECT_FALSE(extend(db, text));
  EXPECT_TRUE(mutex(other, "a").try_acquire());
  EXPECT_FALSE(extend(db, text));
}

TEST_P(transfer_test, what_was_taken_by_force_is_not_extended) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  EXPECT_TRUE(admin{other}.release("a"));
  EXPECT_FALSE(extend(db, text));
  const auto next = mutex(other, "a").try_acquire();
  EXPECT_TRUE(next);
  EXPECT_FALSE(extend(db, text));
  EXPECT_EQ(code_of([&] { std::ignore = extend(db, next.receipt()); }), errc::invalid_argument);
}

ROWLOCK_FOR_EACH_STORE(transfer_test);

class transfer_doubt_test : public virtual_client_test {
 protected:
  client db = new_client();
  client other = new_client();
};

TEST_F(transfer_doubt_test, an_adoption_whose_answer_was_lost_is_asked_again) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.lose_answer("edit");
  const auto taken = adopt(other, text);
  ASSERT_TRUE(taken);
  EXPECT_EQ(holder_of("a"), taken.id().to_string());
}

TEST_F(transfer_doubt_test, an_adoption_that_fails_in_doubt_gives_the_lock_back) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.lose_answer("edit", 1'000'000);
  auto adoption = in_background([&] { return code_of([&] { std::ignore = adopt(other, text); }); });
  ASSERT_TRUE(soon([&] { return adoption.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(adoption.get(), errc::unreachable);
  faults.forget();
  faults.deny("read_held", 1'000'000);  // keeps reconciliation from finding the hold
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(transfer_doubt_test, an_adoption_that_outlasts_its_lease_is_made_on_the_next_one) {
  auto brief = calm();
  brief.ttl = 3s;
  brief.renew_interval = 1s;
  brief.margin = 200ms;
  client late = new_client(brief);
  mutex(late, "b").acquire().release();  // gives the client its lease
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.cut(true);
  auto adoption = in_background([&] { return adopt(late, text); });
  advance(4s);
  faults.cut(false);
  ASSERT_TRUE(soon([&] { return adoption.wait_for(0s) == std::future_status::ready; }));
  const hold taken = adoption.get();
  ASSERT_TRUE(taken) << "nobody has adopted, reclaimed, released or killed it";
  EXPECT_EQ(holder_of("a"), taken.id().to_string());
}

// If the id were not in use, a check of all holds could take the adopted hold for an orphan.
TEST_F(transfer_doubt_test, the_id_of_an_adoption_is_in_use) {
  mutex(other, "b").acquire().release();  // gives the other client its lease
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.hang_answer("edit");
  auto adoption = in_background([&] { return adopt(other, text); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto& ids = primitives::access::engine(other)->services().queue.ids();
  EXPECT_TRUE(ids.contains(model::hold_id::parse(holder_of("a"))));
  server->unblock();
  EXPECT_TRUE(adoption.get());
}

TEST_F(transfer_doubt_test, an_extension_whose_answer_was_lost_may_be_repeated) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.lose_answer("renew");
  EXPECT_EQ(code_of([&] { std::ignore = extend(other, text); }), errc::unreachable);
  EXPECT_TRUE(extend(other, text));
  advance(59min);
  EXPECT_FALSE(mutex(other, "a").try_acquire());
}

TEST_F(transfer_doubt_test, a_hand_over_whose_answer_was_lost_gives_the_lock_back) {
  hold held = mutex(db, "a").acquire();
  faults.lose_answer("edit");
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(1h); }), errc::unreachable);
  EXPECT_FALSE(held);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

// Whoever finds it by its data may have begun to work.
TEST_F(transfer_doubt_test, a_hold_that_has_moved_with_its_data_stays_although_the_answer_was_lost) {
  hold held = mutex(db, "a").acquire();
  std::string text;
  faults.lose_answer("edit");
  EXPECT_EQ(code_of([&] { held.transfer(1h, [&](const std::string& made) { return text = made; }); }),
            errc::unreachable);
  EXPECT_FALSE(held);
  ASSERT_TRUE(soon([&] { return faults.count("edit") > 1; })) << "the withdrawal";
  advance(30min);
  EXPECT_EQ(admin{other}.show("a")->holders.at(0).data, text);
  EXPECT_TRUE(adopt(other, text));
}

TEST_F(transfer_doubt_test, a_hold_that_has_not_moved_with_its_data_is_released) {
  hold held = mutex(db, "a").acquire();
  faults.lose_request("edit");
  EXPECT_EQ(code_of([&] { held.transfer(1h, [](const std::string& made) { return made; }); }),
            errc::unreachable);
  EXPECT_FALSE(held);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(transfer_doubt_test, a_release_whose_answer_was_lost_is_sent_again) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.lose_answer("edit");
  auto released = in_background([&] { return release(other, text); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::released);
  EXPECT_TRUE(holder_of("a").empty());
}

TEST_F(transfer_doubt_test, a_hand_over_in_doubt_gives_the_lock_back_although_its_hold_has_expired) {
  const auto began = time.now();
  hold held = mutex(db, "a").acquire({.ttl = 3s});
  faults.hang_answer("edit");
  auto text = in_background([&] { return code_of([&] { std::ignore = held.transfer(1h); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  ASSERT_TRUE(soon([&] { return held.loss() == loss::expired; }));
  ASSERT_TRUE(soon([&] { return text.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(text.get(), errc::unreachable);
  server->unblock();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
  EXPECT_LT(time.now() - began, 10min);
}

TEST_F(transfer_doubt_test, a_close_takes_nothing_from_who_adopts) {
  hold held = mutex(db, "a").acquire();
  faults.hang_answer("edit");
  auto text = in_background([&] { return held.transfer(1h); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(eventually([&] { return held.loss() == loss::closed; }));
  server->unblock();
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(adopt(other, text.get()));
}

TEST_F(transfer_doubt_test, a_hold_that_was_taken_by_force_meanwhile_says_so) {
  hold held = mutex(db, "a").acquire();
  faults.hang("edit");
  auto text = in_background([&] { return code_of([&] { std::ignore = held.transfer(1h); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  ASSERT_TRUE(admin{other}.release("a"));
  ASSERT_TRUE(soon([&] { return faults.count("find") > 1; }));
  server->unblock();
  ASSERT_TRUE(soon([&] { return text.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(text.get(), errc::hold_lost);
  ASSERT_TRUE(soon([&] { return held.loss() != loss::none; }));
  EXPECT_EQ(held.loss(), loss::forced);
}

TEST_F(transfer_doubt_test, a_renewal_between_the_hand_over_and_its_answer_reports_no_loss) {
  auto settings = calm();
  settings.renew_interval = 500ms;
  client quick = new_client(settings);
  hold held = mutex(quick, "a").acquire();
  const auto stop = held.stop_token();
  faults.hang_answer("edit");
  auto text = in_background([&] { return held.transfer(1h); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto finds = faults.count("find");
  ASSERT_TRUE(soon([&] { return faults.count("find") > finds + 1; }));
  EXPECT_EQ(held.loss(), loss::none);
  server->unblock();
  EXPECT_TRUE(adopt(other, text.get()));
  EXPECT_EQ(held.loss(), loss::none);
  EXPECT_FALSE(stop.stop_requested());
}

// The thread would run beside the adopter, with the same token and without learning of a loss.
TEST_F(transfer_doubt_test, a_recursive_mutex_is_not_entered_again_while_its_hold_moves) {
  auto settings = calm();
  settings.connections = 4;  // the new attempt sends a statement while the edit's answer is under way
  client many = new_client(settings);
  recursive_mutex a{many, "a"};
  hold held = a.acquire();
  faults.hang_answer("edit");
  auto text = in_background([&] { return held.transfer(1h); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  EXPECT_FALSE(a.try_acquire());
  EXPECT_EQ(a.depth(), 0U);
  server->unblock();
  EXPECT_TRUE(adopt(other, text.get()));
}

TEST_F(transfer_doubt_test, a_recursive_mutex_is_entered_again_when_its_hold_did_not_move) {
  recursive_mutex a{db, "a"};
  hold held = a.acquire();
  faults.deny("edit");
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(1h); }), errc::privilege);
  const hold inner = a.try_acquire();
  EXPECT_EQ(inner.id(), held.id());
  EXPECT_EQ(a.depth(), 2U);
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(1h); }), errc::invalid_argument);
  EXPECT_EQ(a.depth(), 2U);
}

TEST_F(transfer_doubt_test, a_recursive_mutex_is_not_entered_again_after_a_transfer_in_doubt) {
  recursive_mutex a{db, "a"};
  hold held = a.acquire();
  faults.lose_answer("edit");
  EXPECT_EQ(code_of([&] { std::ignore = held.transfer(1h); }), errc::unreachable);
  EXPECT_EQ(a.depth(), 0U);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
  EXPECT_NE(a.acquire().id(), held.id());
}

}  // namespace
}  // namespace rowlock::test
