// One edit: decides about locks while their rows are locked, and does what the decisions call for. Requests,
// groups of locks, moves and tasks are decided here; no other code of the client begins an edit.
#pragma once

#include "client/core/history_lines.hpp"
#include "client/decision/decisions.hpp"
#include "client/worker/worker_services.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// What an edit decides about.
struct edit_item {
  const std::string& name;  // it must live until the item is reported
  hold_id about{};          // nil: about no single hold
  // The client's lease, if a decision may report what an earlier commit did: that commit is then made durable
  // (I8).
  lease_id own{};
  const model::lock_definition* acquired{};  // set for an acquire, which creates the lock if it is missing
  bool needs_data = false;                   // the decision reads lock_view::data
  // The edit reads no permit but that of `about`, if all items of the name allow it (store::edit_request::permits_of).
  bool trusts_in_use = false;
  std::int64_t wanted = 0;     // see store::edit_request
  bool may_be_queued = false;  // the item withdraws a request, which may stand in the queue
  intent why = intent::use;
};

enum class edit_state : std::uint8_t { settled, again, locked, missing };

// What became of an item.
//
//   result    | decision            | the round                                                    | state
//   committed | expired             | kills those leases                                           | again
//   committed | unrecorded_server   | records the server's state                                   | again
//   committed | decide_again        | wakes the clients whose waiters left the queue               | again
//   committed | none, a permit that | has written nothing                                          | again
//             | was not read may be |                                                              |
//             | a dead holder's     |                                                              |
//   committed | guarded             | has written nothing                                          | locked
//   committed | any other           | has made durable what it only read; gives grants to waiters  | settled
//             |                     | of this client, and wakes the clients of others              |
//   skipped   | none                | does nothing                                                 | locked
//   missing   | none, of an acquire | creates the lock                                             | again
//   missing   | none, of others     | does nothing                                                 | missing
//
//   state   | the caller
//   settled | reports the decision
//   again   | edits again at once, and reads all permits
//   locked  | edits again after a pause
//   missing | reports that there is no such lock
//
// If the statement fails, nothing is known of any item; the next edit finds out by the hold's id (I7). If what follows
// the commit fails, what is settled stays settled, and the caller edits again for the rest.
struct edit_reply {
  edit_state state = edit_state::locked;
  store::edit_result result = store::edit_result::skipped;
  decision made{};
};

// Used by one thread, for one edit: call add() for each item, then one of the functions that decide, then
// follow_up(). Each change of a recorded name is written with its history.
class edit_round {
 public:
  // The other items of a name that the edit decides about. If there are any, the view shows nothing about an item's hold
  // in particular.
  struct companions {
    bool exist = false;
    std::span<const hold_id> leaving{};  // the waiting requests that are withdrawn, of the item itself, too
    bool has_left = false;               // the item is one of these, and has left with an earlier one
  };
  // Decides about item i.
  using each = std::function<decision(std::size_t i, const store::lock_view& view, const companions& others)>;
  // Decides about all items at once; decision i is about item i. Only an item whose result is `committed` has
  // a view.
  using together = std::function<std::vector<decision>(std::span<const store::edit_result> results,
                                                       std::span<const store::lock_view> views)>;

  edit_round(worker_services& client, std::size_t count);
  edit_round(const edit_round&) = delete;
  edit_round& operator=(const edit_round&) = delete;

  // Requires: the items come in the order of their names.
  void add(const edit_item& item);

  // These three were read when the round was made, before its statement is sent.
  std::uint64_t check_count() const { return check_count_; }  // see hold_registry::add
  std::uint64_t wakeups() const { return wakeups_; }          // those that the client had received
  instant sent_at() const { return sent_at_; }

  // Sends the edit, and decides about each item for itself. Items of one name are decided in their order,
  // each from what the one before it leaves, with one exception: withdrawn requests that wait leave the queue first,
  // all together, because the lock would otherwise be granted to one of them.
  void decide_each(store::lock_verbs& session, each decide);
  // Sends the edit, with one decision about all items. Requires: the items' names are distinct.
  void decide_together(store::lock_verbs& session, const together& decide);

  // Does what the decisions call for after the commit. call: runs a function with a session. report: called
  // for each item i with its reply, after waiters of this client have got the item's grants, and before
  // anything else is sent.
  using session_call = std::function<void(const std::function<void(store::session&)>& work)>;
  using report_to = std::function<void(std::size_t i, edit_reply& reply)>;
  void follow_up(const session_call& call, const report_to& report);
  // As above, for a caller that reports nothing until all is done. If a step fails although an item is
  // settled and has changed something, the error says that the outcome is unknown. If memory runs out, the
  // remaining steps are left out: they send hints, for which polls make up, or do what the next edit asks for
  // again.
  void follow_up(store::session& session);

  std::vector<edit_reply> take_replies() noexcept { return std::move(replies_); }

 private:
  std::size_t end_of_name(std::size_t first) const;
  store::lock_change decide_in_order(std::size_t first, const store::lock_view& view);
  const store::lock_change& decided(std::size_t i, decision made, const store::lock_view& view);
  void answered(store::lock_verbs& session, std::span<const store::edit_result> results);
  bool is_only_read(std::size_t i) const;
  void make_durable(store::lock_verbs& session, lease_id own) const;
  void notify(const std::string& name, const decision& made);
  void send_rest(const session_call& call);

  worker_services& client_;
  const std::uint64_t check_count_;
  const std::uint64_t wakeups_;
  const instant sent_at_;
  std::vector<store::edit_request> requests_;  // one for each name
  std::vector<edit_item> items_;
  std::vector<edit_reply> replies_;  // of each item
  each decide_;
  // What follows the commit.
  std::vector<store::wakeup> wake_;
  std::vector<lease_id> kill_;
  std::vector<model::lock_definition> create_;
  bool refresh_ = false;  // the server is not the recorded one
};

}  // namespace rowlock::client_layer
