// The requests and tasks of callers, on their way through the queue and the workers.
#pragma once

#include "client/base/promised.hpp"
#include "client/base/time_source.hpp"
#include "client/core/acquire_progress.hpp"
#include "client/core/hold_room.hpp"
#include "client/core/hold_state.hpp"
#include "client/core/ids_in_use.hpp"
#include "client/core/request_stage.hpp"
#include "client/core/retry_state.hpp"
#include "model/lock.hpp"
#include "store/store.hpp"

#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rowlock::client_layer {

// Tells the caller of a release its result.
using release_answer = std::shared_ptr<promised<release_result>>;

// The answer to a request, the mark that its id is in use, and the room for its hold. The mark and the room
// end with the answer, because the request may live much longer: its caller keeps it. What the database has
// under its id after the answer is a registered hold, or has no owner.
class acquire_answer : public promised<std::shared_ptr<hold_state>> {
 public:
  ids_in_use::mark in_use{};
  hold_room::place room{};  // empty: the request obtains no hold

  // The room is freed before the caller is woken, so that the caller finds what is really left. If the
  // request has obtained a hold, that is registered by now and counts by itself.
  template <class... Arguments>
  bool complete(Arguments&&... arguments) {
    room.free();
    return settled(promised::complete(std::forward<Arguments>(arguments)...));
  }
  bool fail(const std::exception_ptr& failure) noexcept {
    room.free();
    return settled(promised::fail(failure));
  }

 private:
  bool settled(bool received) {
    if (received) in_use = {};
    return received;
  }
};

struct release_operation;

// A request that is under way. The answer is a hold_state, or null for busy. The weight of an exclusive request is
// that of the whole lock; after the grant, weight is what was granted.
//
// Its state has four parts, each with a table of its own: which part of the client owns it (stage), how far it has come
// with the database (progress), why it is retried (retry), and whether its caller still waits (answer).
struct acquire_operation : model::lock_request {
  explicit acquire_operation(model::lock_request asked = {}, bool waits = false);

  const bool wait;
  instant called_at{};                           // when its caller asked
  std::optional<std::chrono::milliseconds> ttl;  // explicit
  std::chrono::milliseconds min_hold{0};

  model::hold_id hold = model::hold_id::random();
  std::shared_ptr<client_layer::lease> lease;  // on which it was sent; null: never sent
  // The explicit-ttl lease on which the latest edit puts its hold. Set from before that edit is sent until it is answered.
  // If the answer was lost, the hold may stand there, or on that of an earlier try, and outlive the client's lease: a
  // request that is given up or begins anew must then be withdrawn.
  std::shared_ptr<client_layer::lease> moving_to;
  std::uint64_t check_count = 0;  // see hold_registry::add
  request_stage stage{};
  acquire_progress progress{};
  retry_state retry{};
  backoff guarded = guarded_pause();
  instant not_before{};  // no poll retries it earlier: a guarded transaction keeps the row of a dead holder
  acquire_answer answer{};
  bool ends_with_answer = false;  // the noted failure counts only until the database answers
  // Withdraws this request, or releases its hold. It is made with the request, so that neither can fail for
  // lack of memory. Null: it was used, or the hold has it.
  std::shared_ptr<release_operation> ending;
  std::shared_ptr<acquire_operation> next_in_list{};  // see linked_list

  // Whether one edit may decide it together with other requests for the same name: many can hold the lock at once,
  // and the request is certainly not in the queue, where an edit looks up only one hold for each name.
  bool joins() const {
    return model::is_shareable(definition.kind) && !progress.was_queued() && !progress.is_in_doubt();
  }
  // Makes it a new request with that hold id, which has no claim to what the old one may have obtained.
  void begin_anew(model::hold_id as, std::shared_ptr<release_operation> ends) {
    hold = as;
    ending = std::move(ends);
    lease.reset();
    moving_to.reset();
    progress.restart();
  }
  // Notes the reason given to a caller whose time runs out. It counts until the database answers. One reason counts
  // longer: the row is locked, and a look has shown that no holder keeps it; each answer says that again. Once the
  // request was queued, the reason is busy instead.
  void note_failure(const std::exception_ptr& reason) noexcept {
    if (progress.was_queued()) return;
    ends_with_answer = !retry.has_looked();
    answer.note_failure(reason);
  }
  // The statement that was under way has been answered. False: there was none.
  bool answered() noexcept {
    if (!progress.answered()) return false;
    if (std::exchange(ends_with_answer, false)) answer.note_failure({});
    return true;
  }
};

// Ends something in a lock; retried until the database has reported the outcome.
struct release_operation {
  enum class aim : std::uint8_t {
    release,  // one hold, or its place in the queue
    force,    // all holds, or one of them
    sweep,    // what the dead have
  };

  std::string name;
  model::lock_kind kind = model::lock_kind::unknown;    // of the lock, if it is known
  model::lock_mode mode = model::lock_mode::exclusive;  // of a hold that is released
  aim purpose = aim::release;
  model::hold_id hold{};  // what is released; with aim::force the one hold to take, or nil for all
  ids_in_use::mark in_use{};
  // With aim::force: holds with later tokens stay.
  model::token upto = std::numeric_limits<model::token>::max();
  bool spares_rests = false;  // with aim::force: what rests keeps the lock
  bool was_held = false;      // a caller had the hold
  // The grant that this ends. Empty: nothing was granted, or a loss has ended it before.
  std::optional<grant_record> ends{};
  bool is_orphan = false;  // no code of this client knows the hold or the place
  std::shared_ptr<client_layer::lease> lease{};
  bool only_on_lease = false;  // it is released only if it stands on `lease`
  store::durability how = store::durability::asynchronous;
  instant keep_until{};  // minimum hold time: the lock rests until then
  bool fair = true;
  bool fast = false;  // the fast path is worth a try
  // With aim::sweep: it follows a commit, so the row was not locked a moment ago, and a sweep of the name that waits
  // because the row was locked need wait no longer.
  bool hastens = false;
  bool try_hand_over = false;  // if that frees nothing, a hand-over without an edit is worth a try
  bool in_doubt = false;       // an answer was lost, so this may have been executed
  // Acquires of the name that come while this waits to be sent are sent after it: its caller has gone on, and they may
  // be the same caller's.
  bool goes_first = false;
  // Its caller counts `released` as evidence that the hold stood until then.
  bool must_be_certain = false;
  request_stage stage{};
  retry_state retry{};
  release_answer answer{};                            // null: nobody waits
  std::shared_ptr<release_operation> next_in_list{};  // see linked_list

  // Whether others may get the lock by this. Such a release goes before what only tidies up.
  bool frees_a_hold() const { return purpose == aim::release && was_held; }
  // Whether this withdraws a request, which may stand anywhere in the queue, also beyond the part that an
  // edit reads.
  bool may_be_queued() const {
    return purpose == aim::release && !was_held && kind != model::lock_kind::unknown && !is_rendezvous(kind);
  }
  // Whether one edit may decide it together with other requests for the same name. That is no use for an
  // exclusive hold, which is alone on its lock, and wrong for a withdrawal from a barrier, where it matters
  // whether the withdrawn request had arrived.
  bool joins() const {
    return (purpose == aim::release && mode == model::lock_mode::shared) || may_be_queued();
  }
};

// For acquire_operation::ending, or hold_state::take_ending().
inline std::shared_ptr<release_operation> ending_of(std::string name) {
  auto ending = std::make_shared<release_operation>();
  ending->name = std::move(name);
  return ending;
}

// Makes the ending a withdrawal: it releases the hold, or takes it out of the queue, for a caller that does not wait
// for that.
inline std::shared_ptr<release_operation> as_withdrawal(std::shared_ptr<release_operation> ending,
                                                        model::hold_id hold,
                                                        std::shared_ptr<client_layer::lease> lease) noexcept {
  ending->answer.reset();
  ending->hold = hold;
  ending->lease = std::move(lease);
  return ending;
}

inline std::shared_ptr<release_operation> withdrawal_of(std::string name, model::hold_id hold,
                                                        std::shared_ptr<client_layer::lease> lease) {
  return as_withdrawal(ending_of(std::move(name)), hold, std::move(lease));
}

// Frees what dead leases hold, and grants to waiters.
inline std::shared_ptr<release_operation> sweep_of(std::string name) {
  auto sweep = ending_of(std::move(name));
  sweep->purpose = release_operation::aim::sweep;
  return sweep;
}

// The same, for what a commit has left to do.
inline std::shared_ptr<release_operation> sweep_after_commit(std::string name) {
  auto sweep = sweep_of(std::move(name));
  sweep->hastens = true;
  return sweep;
}

inline acquire_operation::acquire_operation(model::lock_request asked, bool waits)
    : lock_request(std::move(asked)), wait(waits), ending(ending_of(definition.name)) {
  if (mode == model::lock_mode::exclusive) weight = definition.capacity;
}

// Makes the request's ending its withdrawal. Null: it has been withdrawn before.
inline std::shared_ptr<release_operation> take_withdrawal_of(acquire_operation& request) noexcept {
  if (!request.ending) return nullptr;
  auto withdrawal = as_withdrawal(std::exchange(request.ending, nullptr), request.hold,
                                  request.moving_to ? request.moving_to : request.lease);
  withdrawal->kind = request.definition.kind;
  return withdrawal;
}

// Other work with a session. Not retried; not begun once its caller has given up.
struct task_operation {
  std::function<void(store::session&)> work;
  std::string edits{};           // the lock that an edit_task decides about; if it is set, `work` is empty
  bool alone = false;            // an edit_task that shares its edit with no other
  std::exception_ptr failure{};  // of an edit_task that has failed although others in its edit have succeeded
  std::function<void()> undo{};  // for a caller that gave up while the work ran
  promised<bool> answer{};
};

}  // namespace rowlock::client_layer
