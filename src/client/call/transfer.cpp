#include "client/call/transfer.hpp"

#include "client/base/backoff.hpp"
#include "model/annotated_mutex.hpp"
#include "model/names.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <unordered_map>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

std::shared_ptr<lease> lease_of(engine& on, instant until) {
  const auto begun = on.environment().time.now();
  on.start_keeper();
  for (;;) {
    if (auto lease = on.services().queue.lease()) return lease;
    std::optional<error> failure;
    if (const auto why = on.services().queue.why_no_lease(begun)) failure.emplace(copy_of(why));
    if (failure && !is_temporary(*failure)) throw *failure;
    if (!on.sleep(std::min<std::chrono::nanoseconds>(1ms, until - on.environment().time.now()), {})) {
      throw failure ? *failure : no_answer(on.environment().longest_call());
    }
  }
}

struct take_decision {
  decision (*decide)(const store::lock_view&, model::hold_id old, model::lease_id from,
                     const model::waiter& mine);
  intent why;
};

// Decides until the outcome is known, even after lost answers, or until this client's lease is over, which must not get
// the hold any more: then the result is empty. If a call fails in doubt, the hold is released, because the call may have
// been executed. Each call takes the hold under a new id, so it never releases another caller's hold.
std::optional<hold_ptr> take_on_present_lease(engine& on, const transfer_note& note, const take_decision& how,
                                              instant called_at) {
  const auto until = called_at + on.environment().longest_call();
  const auto lease = lease_of(on, until);
  const auto hold = model::hold_id::of_this_thread();
  const auto check_count = on.holds().check_count();
  // The id is in use until the last try is over, even a try that the caller no longer waits for.
  const auto in_use = std::make_shared<ids_in_use::mark>(on.services().queue.ids().use(hold));
  // Whether the call may have been executed. If it fails for lack of memory, nothing else tells.
  const auto decided = std::make_shared<std::atomic<bool>>(false);
  const auto withdrawal = withdrawal_of(note.name, hold, lease);
  outcome settled;
  try {
    settled = on.tasks().decide_with_retry(
        note.name, {note.hold, true, how.why},
        [decide = how.decide, note, in_use, decided, lease, &time = on.environment().time,
         mine = model::waiter{0, hold, lease->id()}](const store::lock_view& view) {
          decided->store(true);
          if (lease->is_valid(time.now())) return decide(view, note.hold, note.lease, mine);
          decision nothing;
          nothing.outcome.result = what::busy;
          return nothing;
        },
        {until, {}});
    if (settled.result == what::granted) {
      if (auto taken = on.services().complete.make_hold(
              {settled.stored, hold, settled.token, lease, settled.mode, settled.weight}, check_count,
              false)) {
        on.services().complete.note_grant(*taken, called_at);
        return taken;
      }
    }
  } catch (const error& failure) {
    if (failure.outcome_unknown()) on.services().queue.submit(withdrawal);
    throw;
  } catch (...) {
    if (decided->load()) on.services().queue.submit(withdrawal);
    throw;
  }
  if (settled.result != what::granted && settled.result != what::busy) return nullptr;
  on.services().queue.submit(withdrawal);
  return settled.result == what::busy ? std::nullopt : std::optional<hold_ptr>{nullptr};
}

hold_ptr take(engine& on, const transfer_note& note, const take_decision& how) {
  on.check_usable();
  const auto called_at = on.environment().time.now();
  const auto room = on.take_room();
  for (;;) {
    if (auto taken = take_on_present_lease(on, note, how, called_at)) return *std::move(taken);
  }
}

// The hold may stand on its previous lease, or on the lease of the transfer, of which nobody will know.
release_ptr withdrawal_wherever_it_stands(const hold_state& hold, model::lease_id transferred,
                                          std::chrono::milliseconds ttl) {
  return withdrawal_of(hold.name(), hold.id(), std::make_shared<lease>(transferred, ttl, false, transferred));
}

// Once the hold has moved together with its data, whoever finds it by the data has it.
release_ptr withdrawal_unless_it_has_moved(const hold_state& hold) {
  auto withdrawal = withdrawal_of(hold.name(), hold.id(), hold.lease());
  withdrawal->only_on_lease = true;
  return withdrawal;
}

void withdraw(engine& on, hold_state& hold, const release_ptr& withdrawal) noexcept {
  // The lease of a transfer does not end with this process, so the hold is released even if it has been lost here
  // meanwhile.
  if (!withdrawal->only_on_lease) withdrawal->lease->confirm(on.environment().time.now(), {});
  withdrawal->was_held = hold.begin_release();
  withdrawal->keep_until = hold.keep_until();
  on.services().queue.submit(withdrawal);
  // Not before the release uses the id: otherwise reconciliation would take the hold for an orphan.
  on.holds().remove_ended(hold);
}

// The holds of this process that could be reclaimed: those with a receipt. Thread-safe.
class receipts {
 public:
  void add(const hold_ptr& hold) {
    const model::annotated_lock lock{mutex_};
    holds_[hold->id()] = hold;
    // Entries of holds that are over are removed when they have doubled the map, so on average each call
    // removes at most one.
    if (holds_.size() < 2 * alive_ + 16) return;
    std::erase_if(holds_, [](const auto& entry) { return entry.second.expired(); });
    alive_ = holds_.size();
  }
  bool stands(model::hold_id id, model::lease_id on) const {
    const model::annotated_lock lock{mutex_};
    const auto found = holds_.find(id);
    const auto hold = found == holds_.end() ? nullptr : found->second.lock();
    return hold && hold->lease()->id() == on && hold->is_valid();
  }

  const int pid = ::getpid();

 private:
  mutable model::annotated_mutex mutex_;
  std::unordered_map<model::hold_id, std::weak_ptr<hold_state>> holds_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t alive_ ROWLOCK_GUARDED_BY(mutex_) = 0;
};

// A forked child begins with an empty object, because a thread that the child does not have may have locked
// the mutex of its parent's.
receipts& receipts_of_this_process() {
  static std::atomic<receipts*> current{nullptr};
  auto* known = current.load();
  if (known != nullptr && known->pid == ::getpid()) return *known;
  auto made = std::make_unique<receipts>();
  return current.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

// Takes the last entry of a recursive lock while its hold moves, so no thread enters again beside the adopter. Gives
// the entry back unless the move has ended the hold. False: the lock was entered more than once.
class last_entry {
 public:
  explicit last_entry(hold_state& hold) : hold_(hold), claimed_(hold.leave_last()) {}
  last_entry(const last_entry&) = delete;
  last_entry& operator=(const last_entry&) = delete;
  ~last_entry() {
    if (claimed_ && !hold_.is_released()) hold_.undo_leave();
  }
  explicit operator bool() const noexcept { return claimed_; }

 private:
  hold_state& hold_;
  const bool claimed_;
};

// Whether the holder is another running process of this machine. False for other machines, where it is unknown. birth:
// the holder's, if it is known; after a restart of the machine or the container another process may have its pid.
bool lives(const store::lease_record& holder, const std::string& birth, engine& on) {
  if (holder.host != on.environment().process.host || holder.pid == ::getpid()) return false;
  const auto now_there = birth_of(holder.pid);
  if (!birth.empty() && !now_there.empty() && now_there != birth) return false;
  return ::kill(static_cast<pid_t>(holder.pid), 0) == 0 || errno == EPERM;
}

}  // namespace

std::string receipt(const hold_ptr& hold) {
  receipts_of_this_process().add(hold);
  return transfer_note{transfer_note::purpose::reclaim, hold->lease()->id(), hold->id(), hold->name(),
                       birth_of(::getpid())}
      .to_string();
}

bool is_held_here(const transfer_note& note) {
  return receipts_of_this_process().stands(note.hold, note.lease);
}

std::string transfer(const hold_ptr& hold, std::chrono::milliseconds ttl, const data_of_text& data) {
  model::check_explicit_ttl(ttl);
  auto& on = hold->engine();
  on.check_usable();
  if (!hold->is_valid()) throw hold_is_over(hold->name());
  const last_entry claimed{*hold};
  if (!claimed) {
    throw error(errc::invalid_argument, "\"" + hold->name() + "\" was entered " +
                                            std::to_string(hold->depth()) +
                                            " times; release it until one level is left, then transfer it");
  }
  const transfer_note note{transfer_note::purpose::adopt, model::lease_id::random(), hold->id(),
                           hold->name()};
  const auto record = on.environment().process.lease(note.lease, note.lease, ttl);
  std::optional<model::lease_id> ended;
  if (!hold->lease()->is_renewed()) ended = hold->lease()->id();
  auto text = note.to_string();
  std::optional<std::string> own_data;
  if (data) model::check_value(own_data.emplace(data(text)));
  const auto decided = std::make_shared<std::atomic<bool>>(false);
  const auto withdrawal =
      data ? withdrawal_unless_it_has_moved(*hold) : withdrawal_wherever_it_stands(*hold, note.lease, ttl);
  std::optional<hold_move> moving{std::in_place, std::vector{hold}, hold_state::move::away};
  try {
    const auto settled =
        on.tasks().decide(hold->name(), hold->id(), [=, id = hold->id()](const store::lock_view& view) {
          decided->store(true);
          auto made = decide_move(view, id, record, own_data);
          if (ended && made.outcome.result == what::granted) made.change.end_leases.push_back(*ended);
          return made;
        });
    if (settled.result != what::granted) {
      moving.reset();
      on.services().agenda.renew_soon();  // the renewal finds out why
      throw hold_is_over(hold->name());
    }
  } catch (const error& failure) {
    if (failure.outcome_unknown()) withdraw(on, *hold, withdrawal);
    throw;
  } catch (...) {
    if (decided->load()) withdraw(on, *hold, withdrawal);
    throw;
  }
  on.holds().remove(*hold);
  hold->begin_release();
  return text;
}

hold_ptr adopt(engine& on, const transfer_note& note) {
  return take(on, note, {decide_adopt, intent::use});
}

hold_ptr reclaim(engine& on, const transfer_note& note) {
  on.check_usable();
  const auto stored =
      on.tasks().result_of([name = note.name](store::admin_verbs& session) { return session.show(name); });
  if (!stored) return nullptr;
  for (const auto& holder : stored->holders) {
    if (holder.hold != note.hold || !lives(holder.lease, note.process, on)) continue;
    throw error(errc::contention,
                fmt::format("process {} on this machine holds \"{}\" and has not ended; reclaim the hold "
                            "when it has ended, or let it transfer the hold",
                            holder.lease.pid, note.name));
  }
  return take(on, note, {decide_reclaim, intent::reclaim});
}

bool extend(engine& on, const transfer_note& note) {
  on.check_usable();
  on.check_may_write();
  const bool renewed = on.tasks().result_of([id = note.lease](store::session& session) {
    // This server's clock may judge a lease only after the lease has been lengthened for it.
    session.record_database_state();
    return !session.renew({&id, 1}).renewed.empty();
  });
  if (!renewed) return false;
  // The lease may outlive its hold, if that was released by force.
  const auto stored =
      on.tasks().result_of([name = note.name](store::admin_verbs& session) { return session.show(name); });
  return stored && std::ranges::any_of(stored->holders, [&](const store::holder_info& holder) {
           return holder.hold == note.hold && holder.lease.id == note.lease;
         });
}

release_result release(engine& on, const transfer_note& note) {
  on.begin_work();
  const auto until = later(on.environment().time.now(), on.environment().settings.close_timeout);
  auto operation =
      withdrawal_of(note.name, note.hold,
                    std::make_shared<lease>(note.lease, std::chrono::milliseconds{0}, false, note.lease));
  operation->only_on_lease = true;
  operation->was_held = true;
  const auto answer = operation->answer = std::make_shared<promised<release_result>>();
  on.services().queue.submit(std::move(operation));
  return on.releaser().await(answer, until);
}

}  // namespace rowlock::client_layer
