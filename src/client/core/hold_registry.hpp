// The holds of this process, and the releases that may not be on disk yet.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/base/linked_list.hpp"
#include "client/core/hold_state.hpp"
#include "client/core/keeper_agenda.hpp"
#include "model/annotated_mutex.hpp"
#include "store/store.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowlock::client_layer {

using hold_ptr = std::shared_ptr<hold_state>;
// These lists link the holds through themselves, so no loss waits for memory.
using lost_holds = linked_list<hold_state, &hold_state::next_lost>;
using asked_holds = linked_list<hold_state, &hold_state::next_asked>;

// Marks holds as moving for as long as this object lives. Before that ends, a hold_state whose move has
// succeeded must be marked as released and leave the registry: otherwise an audit would find the hold on
// another lease and report a loss.
class hold_move {
 public:
  hold_move(std::vector<hold_ptr> holds, hold_state::move where) : holds_(std::move(holds)) {
    for (const auto& hold : holds_) hold->set_move(where);
  }
  hold_move(const hold_move&) = delete;
  hold_move& operator=(const hold_move&) = delete;
  ~hold_move() {
    for (const auto& hold : holds_) hold->set_move(hold_state::move::none);
  }

 private:
  std::vector<hold_ptr> holds_;
};

// Thread-safe.
class hold_registry {
 public:
  explicit hold_registry(keeper_agenda& agenda) : agenda_(agenda) {}

  // How many checks of all holds have begun. Read it before a request is sent, and pass it to add() with the
  // hold that the request obtained.
  std::uint64_t check_count() const noexcept { return check_count_.load(); }

  // Returns false if the hold's lease has ended: the hold was not added, and must not be used. checks_before:
  // check_count() from before the request was sent. If a check has begun since then, it may have been for a
  // loss of this very hold, so the hold stays in unchecked() until it has been looked up by itself. If memory
  // runs out, the hold was not added either.
  bool add(const hold_ptr& hold, std::uint64_t checks_before);
  void remove(const hold_state& hold) noexcept;
  void remove(std::span<const hold_ptr> holds) noexcept;
  // For a hold that its owner gives up: removes it, unless it is past its deadline and not marked as lost. The watchdog
  // finds such a hold here, and has its holder notified.
  void remove_ended(const hold_state& hold) noexcept {
    if (hold.has_ended()) remove(hold);
  }

  bool contains(model::hold_id id) const;
  std::vector<hold_ptr> all() const;
  bool empty() const { return size() == 0; }
  std::size_t size() const noexcept { return size_.load(); }
  // Removes the holds on the lease, marks them as lost and returns those that this call has marked: the
  // caller must have their holders notified. Once the lease has ended, add() refuses further holds on it.
  lost_holds lose(const lease& lease, loss reason) noexcept;
  // Marks all holds as lost and returns those that this call has marked, but leaves all in the registry.
  lost_holds lose_all(loss reason) noexcept;

  // Holds on explicit-ttl leases whose deadline has passed.
  std::vector<hold_ptr> overdue(instant now) const;
  // The first deadline of an explicit-ttl lease.
  std::optional<instant> next_deadline() const;

  // Begins a check and returns all holds. If a request was sent before this call and its hold is added
  // afterwards, that hold is unchecked.
  std::vector<hold_ptr> begin_check();
  std::vector<hold_ptr> unchecked() const;
  bool has_unchecked() const noexcept { return has_unchecked_.load(); }
  void checked(std::span<const hold_ptr> holds);
  // From now on notices come to this lease. A hold whose notices go to another lease is unreachable: an
  // explicit-ttl hold that has outlived the lease of its process.
  void receive_as(model::lease_id client);
  bool has_unreachable() const noexcept { return has_unreachable_.load(); }
  // At most that many of the unreachable holds, in turn.
  std::vector<hold_ptr> next_unreachable(std::size_t most);

  // About that many holds, in turn, so that each is reached.
  std::vector<hold_ptr> next_page(std::size_t most);

 private:
  using deadlines = std::set<std::pair<instant, model::hold_id>>;

  bool is_unreachable(const hold_state& hold) const ROWLOCK_REQUIRES(mutex_);
  // Adds a hold that is in holds_ to the other containers. Returns true if it must be looked up soon.
  bool enter(const hold_ptr& hold, std::uint64_t checks_before) ROWLOCK_REQUIRES(mutex_);
  void forget(const hold_state& hold) noexcept ROWLOCK_REQUIRES(mutex_);
  void forget_deadline(const hold_state& hold) noexcept ROWLOCK_REQUIRES(mutex_);
  void note() noexcept ROWLOCK_REQUIRES(mutex_);

  keeper_agenda& agenda_;
  mutable model::annotated_mutex mutex_;
  std::unordered_map<model::hold_id, hold_ptr> holds_ ROWLOCK_GUARDED_BY(mutex_);
  // The deadlines of holds on explicit-ttl leases, which are never renewed.
  deadlines deadlines_ ROWLOCK_GUARDED_BY(mutex_);
  std::unordered_set<model::hold_id> unchecked_ ROWLOCK_GUARDED_BY(mutex_);
  std::set<model::hold_id> unreachable_ ROWLOCK_GUARDED_BY(mutex_);
  model::lease_id client_ ROWLOCK_GUARDED_BY(mutex_){};
  model::hold_id unreachable_cursor_ ROWLOCK_GUARDED_BY(mutex_){};
  std::size_t page_cursor_ ROWLOCK_GUARDED_BY(mutex_) = 0;  // a bucket
  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> check_count_{0};
  std::atomic<bool> has_unchecked_{false};
  std::atomic<bool> has_unreachable_{false};
};

// Asynchronous releases, until a renewal that was sent after their answer has read the same marker (I8).
class recent_releases {
 public:
  struct entry {
    std::string name;
    model::hold_id hold;
    std::shared_ptr<client_layer::lease> lease;
    instant answered_at;
  };

  // Returns true when there are so many releases that a renewal should come early.
  bool add(entry release);
  // Forgets the releases that were answered before that time, at which a renewal was sent: they are on disk.
  void confirm(instant sent_at);
  // All releases, for a caller that sends them again because the database may have lost them. The caller then
  // passes their number to forget_first(): releases that are added meanwhile stand behind them.
  std::vector<entry> all() const;
  void forget_first(std::size_t count) noexcept;

 private:
  mutable model::annotated_mutex mutex_;
  std::vector<entry> entries_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
