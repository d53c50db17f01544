// What the client layer needs of a session to grant, renew and release, and the values that go with it.
#pragma once

#include "model/lock.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rowlock::store {

using model::hold_id;
using model::lease_id;
using model::token;

// ---- leases ------------------------------------------------------------------------------------------

// A lease to be stored. A process's own lease has client == id; in an explicit-ttl lease, client is the
// process's own lease.
struct lease_record {
  lease_id id;
  lease_id client;
  std::string host;
  std::int64_t pid = 0;
  std::string application;
  std::chrono::milliseconds ttl{0};
  std::string user{};     // whose process it is
  std::string program{};  // what the process runs

  bool operator==(const lease_record&) const = default;
};

// Shows whether the database is still the same server with the same history.
struct database_state {
  std::string identity;  // of this server, now (PostgreSQL: system identifier and timeline)
  std::string
      recorded_identity;  // in meta: differs after a fail-over, until record_database_state raises the epoch
  std::int64_t epoch = 0;
  std::chrono::milliseconds skew{0};  // the stored skew, which each kill must allow for, see set_skew()
  std::string
      marker;  // random; empty after a crash or promotion, until record_database_state writes a new one
  std::int64_t recordings = 0;  // changes with what is recorded, see history_verbs; == ignores it

  bool operator==(const database_state& other) const {
    return identity == other.identity && recorded_identity == other.recorded_identity &&
           epoch == other.epoch && skew == other.skew && marker == other.marker;
  }
};

struct renewal {
  lease_id id;
  std::int64_t notice = 0;  // rises when a hold of the client is released by force, asked for or moved away
};

struct renewal_reply {
  std::vector<renewal> renewed;  // a lease that is absent is dead or expired, and stays so
  store::database_state database_state;
};

// ---- fast path ---------------------------------------------------------------------------------------

struct acquire_item {
  std::string name;
  model::lock_kind kind = model::lock_kind::mutex;
  std::int64_t capacity = 1;
  lease_id lease;
  hold_id hold;
  bool fair = true;
  model::lock_mode mode = model::lock_mode::exclusive;
  std::int64_t weight = 1;  // of a shared request: one or more
};

struct grant {
  hold_id hold;
  model::token token = 0;
};

struct release_item {
  std::string name;
  lease_id lease;
  hold_id hold;
  model::lock_mode mode = model::lock_mode::exclusive;
  bool ends_lease = false;  // an explicit-ttl lease, which ends with this hold, its only one
};

// The grant to the head of the queue that a release made.
struct hand_over_reply {
  hold_id granted;
  lease_id client;  // the client of the granted waiter
  model::token token = 0;
  bool has_queue = false;  // others wait behind the granted waiter
};

// Whether a commit is on disk before it is answered. Grants and renewals always are (I8).
enum class durability : std::uint8_t { durable, asynchronous };

// ---- slow path: one transaction that holds the lock row ------------------------------------------------

// How many rows of the queue an edit reads at most; lock_view::queue_complete says whether there are more.
inline constexpr std::size_t queue_window = 64;

struct waiter_view {
  model::waiter waiter;
  std::optional<model::lease_view> lease;  // empty: the waiter is dead
};

struct permit_view {
  model::permit permit;
  std::optional<model::lease_view> lease;  // empty: its holder is dead
  bool guarded = false;                    // a guarded transaction may rely on the permit: it must stay
};

// What the transaction has read since it locked the row. All of it is current, and stays unchanged until the
// transaction ends.
struct lock_view {
  model::lock_row row;
  // False while a holder's guarded transaction locks the row: the exclusive hold must stay as it is, no other
  // may be granted, and guarded permits stay. The queue may change, and permits may be added or removed.
  bool replaceable = true;
  std::optional<model::lease_view> holder;  // the lease row.lease; empty: free, or the holder is dead
  std::vector<permit_view> permits;  // all of them, dead ones too; or those of edit_request::permits_of
  std::int64_t unread_weight = 0;    // of the permits that were not read
  // How long until the first lease of the permits that were not read may be killed. Zero or less: one of
  // these permits is dead, or its lease has expired or is too long, so an edit that reads all permits must
  // decide. Empty: the edit did not ask, see needs_sum().
  std::optional<std::chrono::microseconds> unread_takeover_in;
  std::vector<waiter_view> queue;    // the first queue_window rows in ticket order, dead ones too
  bool queue_complete = true;        // no row stands behind the rows in `queue`
  std::optional<model::waiter> own;  // the queue row of edit_request::about, at any place
  std::optional<std::string> data;   // of the hold edit_request::about, as stored; read if with_data
  token epoch_floor = 0;             // the smallest token that may be granted now
  bool is_recorded_server = true;    // this server is the recorded one; else nothing may be granted

  // Adds the next row of the queue, as far as the window reaches.
  void add_waiter(const model::waiter& waiter, const std::optional<model::lease_view>& lease);
};

// A request that the holders release a lock.
struct release_request {
  token upto = 0;                       // holds with tokens up to this one are asked for
  std::chrono::milliseconds within{0};  // how long the requester waits; when read: how much is left, or 0
  std::string reason;

  bool operator==(const release_request&) const = default;
};

enum class history_event : std::uint8_t {
  unknown,      // of a later version
  granted,      // at once
  handed_over,  // granted to a waiter
  released,
  lost,       // its lease was killed
  forced,     // released by force
  moved,      // to another lease, with its token
  requested,  // its release was requested
  queued,     // a request began to wait
  left,       // a request left the queue without a grant
};
ROWLOCK_FOR_STORES std::string_view to_string(history_event event) noexcept;
history_event parse_history_event(std::string_view text) noexcept;

// A line of a lock's history, as it is written. The store adds the time and the columns of the lease.
struct history_entry {
  history_event event = history_event::unknown;
  model::token token = 0;  // 0 for a request that waits
  hold_id hold;
  lease_id lease;        // of the hold or the waiter
  std::string detail{};  // who did it, if that is not the holder, and why

  bool operator==(const history_entry&) const = default;
};

// The data of a permit.
struct permit_data {
  hold_id hold;
  std::string text;
};

// What the transaction writes before it commits. An empty change writes nothing and rolls back.
struct lock_change {
  std::optional<model::lock_row> row;  // the whole row, by its name, except kind, fairness and delay
  bool granted_now = false;            // there was a grant: stores the time of the latest acquire
  std::vector<hold_id> remove_permits;
  std::vector<model::permit> add_permits;  // one that is also removed is replaced
  std::vector<model::waiter> enqueue;
  std::vector<hold_id> dequeue;
  std::vector<lease_record> create_leases;   // explicit-ttl leases, in the same commit
  std::vector<lease_id> end_leases;          // explicit-ttl leases whose only hold ended
  std::vector<lease_id> notices;             // bump these leases' notices
  std::optional<std::string> value;          // the exclusive holder's token, and behind it the hold's data
  std::vector<permit_data> data{};           // of permits that exist, or are added here
  std::optional<release_request> request{};  // stored beside the row; replaces an earlier one
  bool durable = false;                      // a batch with one durable change commits durably
  std::vector<history_entry> history{};      // of the lock, in order; written only with another change

  bool empty() const {
    return !row && remove_permits.empty() && add_permits.empty() && enqueue.empty() && dequeue.empty() &&
           create_leases.empty() && end_leases.empty() && notices.empty() && !value && data.empty() &&
           !request;
  }
};

struct edit_request {
  std::string name;
  hold_id about;                                        // the hold that it is about; nil: no single one
  std::function<lock_change(const lock_view&)> decide;  // called at most once; must not throw, wait or do I/O
  bool with_data = false;                               // reads lock_view::data, which costs a statement
  // If set, the edit reads the permits of these holds alone, and trusts in_use, which may count the dead. If
  // empty, it reads all permits.
  std::optional<std::vector<hold_id>> permits_of{};
  // With permits_of: how much of the capacity the decision may grant to new requests.
  std::int64_t wanted = 0;
};

// Whether an edit that does not read all permits must read their sum, because somebody may have to wait. Then
// it matters whether a holder is dead, and when the first holder's lease may be killed.
inline bool needs_sum(const edit_request& request, const model::lock_row& row) {
  return request.permits_of && request.wanted > 0 && !row.lease && row.in_use > 0 &&
         (row.has_queue || row.in_use + request.wanted > row.capacity);
}

enum class edit_result : std::uint8_t {
  committed,  // decide was called and its change, if any, is committed
  skipped,    // the row is locked; decide was not called
  missing,    // no such lock; decide was not called
};

// Decides about all locks of an edit at once, so that all change or none does. results[i], views[i] and the
// returned change i belong to request i. If results[i] is not `committed`, views[i] has no meaning and change
// i must be empty. The function is called once, after everything has been read; it must not throw, wait or do
// I/O.
using joint_decision = std::function<std::vector<lock_change>(std::span<const edit_result> results,
                                                              std::span<const lock_view> views)>;

// ---- reading -----------------------------------------------------------------------------------------

struct hold_query {
  std::string name;
  hold_id hold;
};

struct hold_status {
  hold_id hold;
  enum class where : std::uint8_t { absent, queued, held } state = where::absent;
  model::token token = 0;         // when held: the hold's own
  bool has_queue = false;         // when held: there are waiters, or there were
  bool is_asked_for = false;      // when held: the lock's release request includes this hold
  std::optional<lease_id> lease;  // on which the hold is held or queued
  // When queued or absent: how long until the first lease that is in the way expires. In the way is the
  // exclusive holder's lease, or else those of the permits and of the first waiter. Zero: the lock is free or
  // one of these leases is dead, so an edit would grant; or one ends later than twice its ttl from now, so an
  // edit must judge it. Negative: the lease has expired. Empty: there is no such lock.
  std::optional<std::chrono::microseconds> takeover_in;
  // The lock as stored. If there is none, the capacity is 0, and the rest has no meaning.
  model::lock_kind kind = model::lock_kind::unknown;
  std::int64_t capacity = 0;
  std::int64_t in_use = 0;
  bool fair = true;
};

// takeover_in for a client that kills a lease `skew` after its expiry. Zero stays zero, because a free lock
// or a dead lease needs no kill.
constexpr std::chrono::microseconds takeover_after(std::chrono::microseconds takeover_in,
                                                   std::chrono::microseconds skew) {
  return takeover_in == std::chrono::microseconds{0} ? takeover_in : takeover_in + skew;
}

// Requires: the lock exists.
model::lock_definition definition_of(const std::string& name, const hold_status& status);

// What stands on a client's leases: a hold, or a place in a queue.
struct held_entry {
  std::string name;
  hold_id hold;
  lease_id lease;  // the client's own, or one of an explicit ttl
  model::lock_mode mode = model::lock_mode::exclusive;
  bool queued = false;

  bool operator==(const held_entry&) const = default;
};

struct held_page {
  std::vector<held_entry> entries;  // of the names that were read, in no particular order
  std::optional<std::string> next;  // the last name read; empty: there are no more names
};

// What a sweep may find. It was read without row locks, so the sweep checks each entry again with its row
// locked.
struct stale {
  std::vector<lease_id> leases;  // for kill: those that have expired or are too long
  // Locks with a holder, a permit or a waiter whose lease is missing. The permits of a latch do not count,
  // because they outlive their leases.
  std::vector<std::string> names;
  std::string next;  // the name after which to continue; empty: all locks were read
};

// ---- the verbs ---------------------------------------------------------------------------------------

// The rules for calling these verbs are those of session (store.hpp).
class lock_verbs {
 public:
  // -- the state of the database (I2 across fail-over) --
  // Only reads. In a session that was opened to read only, the identity and the marker may be empty.
  virtual database_state read_database_state() = 0;
  // Writes a marker if there is none. If this server is not the recorded one, raises the epoch to
  // model::next_floor, records the identity, and makes every stored lease expire its own ttl from now: the
  // new clock may be ahead or behind, and a live holder may need that long to renew (I5). A lease that
  // expired more than a day ago stays as it is. Any number of clients may call this at once.
  virtual database_state record_database_state() = 0;

  // -- leases (I3, I4) --
  virtual void create_lease(const lease_record& lease) = 0;           // durable
  virtual renewal_reply renew(std::span<const lease_id> leases) = 0;  // durable
  // In a transaction of its own, on the recorded server only. Deletes the leases that are past expires_at +
  // skew, and returns them. A lease that is too long, because it ends later than its ttl and the skew from
  // now, is shortened to its ttl from now: the clock was ahead when the lease was renewed last.
  virtual std::vector<lease_id> kill(std::span<const lease_id> leases, std::chrono::microseconds skew) = 0;
  virtual void end(std::span<const lease_id> leases) = 0;  // durable

  // -- fast path: decides from the lock rows alone; at most one request per name, or several shared ones --
  // Grants requests for locks that are stored as requested and have no queue, or are unfair; durable. An
  // exclusive request needs a free lock. A shared request, for a shared_mutex or a semaphore, needs a lock
  // without an exclusive holder and room for its weight beside in_use, which also counts the dead; it gets a
  // permit, unless its hold already has one. Shared requests for one name are granted in their order: none passes
  // one that does not fit. Requests that are not granted are absent from the reply, for whatever reason.
  //
  // Exclusive and shared requests may be mixed. If only a part of them was executed, the error says that the
  // outcome is unknown.
  virtual std::vector<grant> acquire(std::span<const acquire_item> requests) = 0;
  // Grants all of these requests, as acquire() does, or none of them; durable. If it grants none, an edit must decide.
  // Requires: all are exclusive, and their names are distinct and sorted.
  virtual std::vector<grant> acquire_all(std::span<const acquire_item> requests) = 0;
  // Releases holds of locks that have no queue, or are unfair, and are not guarded; returns them. The weight
  // of a shared hold leaves in_use with its permit. Holds that are not released are absent from the reply, and keep
  // their leases. A lease that ends with its hold, and whose row another transaction has locked, expires by itself.
  virtual std::vector<hold_id> release(std::span<const release_item> requests, durability how) = 0;

  // -- fast path of a contended lock, where it costs fewer round trips than an edit --
  // Puts an exclusive request into the queue behind a live exclusive holder, and returns how long until
  // that holder's lease may be killed. Returns nothing if an edit must decide.
  virtual std::optional<std::chrono::microseconds> enqueue(const acquire_item& request,
                                                           std::chrono::microseconds skew) = 0;
  // Hands a mutex, shared_mutex or election over from this exclusive hold to an exclusive head of its queue,
  // durably, and wakes that waiter's client unless the releaser is the same client. Does nothing, and
  // returns nothing, if an edit must decide, as about a guarded hold.
  virtual std::optional<hand_over_reply> hand_over(const release_item& request,
                                                   std::chrono::microseconds skew) = 0;

  // -- slow path --
  // Creates the locks that are missing. The token of each is at least the floor, and at least the clock's
  // token less model::new_name_lag. Requires: the names are distinct and sorted.
  virtual void create(std::span<const model::lock_definition> locks) = 0;
  // In one transaction: locks the rows in name order, skipping locked ones; reads all of them; then decides about
  // each; writes the changes; commits. Requires: the names are distinct and sorted. Result i belongs to request i.
  std::vector<edit_result> edit(std::span<const edit_request> requests);
  // As edit(), with one decision about all locks; the requests' own decisions are not called.
  virtual std::vector<edit_result> edit_together(std::span<const edit_request> requests,
                                                 const joint_decision& decide) = 0;

  // -- reading: no row lock, no transaction id, no log --
  virtual std::vector<hold_status> find(std::span<const hold_query> holds) = 0;  // reply i for query i
  // Ensures that everything that this session has read is on disk. Called before a client relies on a grant
  // that was only read (I8), because InnoDB shows a commit before it is on disk. InnoDB's sessions renew the
  // lease `own`: the log is written in order, and the renewal comes after what was read. PostgreSQL and
  // SQLite show no commit early, so their sessions do nothing.
  virtual void make_durable(lease_id own) { static_cast<void>(own); }
  // What stands on the client's leases, among the next `limit` names after `after`, in bytewise order. The
  // permits of a latch stand on no lease.
  virtual held_page read_held(lease_id client, const std::string& after, std::size_t limit) = 0;
  // Reads a page: the locks whose names follow `after`, at most `limit` of them, and at most as many leases.
  virtual stale find_stale(std::size_t limit, std::chrono::microseconds skew,
                           const std::string& after = {}) = 0;

 protected:
  ~lock_verbs() = default;
};

}  // namespace rowlock::store
