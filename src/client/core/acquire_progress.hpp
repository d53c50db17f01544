// How far an acquire has come with the database, and which statement comes next.
//
//   event      | next is fast                   | enqueue  | edit     | find_out
//   fast_sent  | enqueue                        | -        | -        | -
//   row_locked | fast if it may join, else edit | the same | edit     | find_out
//   needs_edit | edit                           | edit     | edit     | find_out
//   queued     | edit                           | edit     | edit     | find_out
//   failed     | find_out, unless the statement was refused or none was under way
//   granted    | -                              | -        | -        | -
//   restart    | fast                           | fast     | fast     | fast
//
// Besides the next step, acquire_progress remembers four facts that do not depend on it: a statement is under
// way (from `sent` to `answered`), the request has stood in the queue (from `queued` on, for ever), the
// database has stored something under the request's present id (from `queued` or `granted` to `restart`), and
// others waited when the request was granted (from `granted` to `restart`).
//
// find_out: an answer was lost, so the request may have been granted or may stand in the queue. The client
// ends its ghosts first; then an edit looks for the hold's id (I7).
#pragma once

#include <rowlock/config.hpp>

#include <cstdint>
#include <utility>

namespace rowlock::client_layer {

// A value. Used by the thread that owns the operation.
class acquire_progress {
 public:
  enum class step : std::uint8_t { fast, enqueue, edit, find_out };

  step next() const noexcept { return next_; }
  bool may_try_fast() const noexcept { return next_ == step::fast; }
  // Only an edit, which locks the lock's row, can tell what happened to the request.
  bool must_edit() const noexcept { return next_ == step::edit || next_ == step::find_out; }
  bool is_in_doubt() const noexcept { return next_ == step::find_out; }
  // Whether the database may have a grant or a place under the request's id, which must be withdrawn once
  // nobody wants it.
  bool may_be_stored() const noexcept { return is_stored_ || in_flight_ || is_in_doubt(); }
  // The request has stood in the lock's queue, on its present lease or an earlier one.
  bool was_queued() const noexcept { return was_queued_; }
  // The request is granted, and others waited at that moment.
  bool was_contended() const noexcept { return was_contended_; }

  // A statement that may grant the request is under way.
  void sent() noexcept { in_flight_ = true; }
  // That statement has been answered. Returns false if none was under way.
  bool answered() noexcept { return std::exchange(in_flight_, false); }
  // That statement has failed. was_refused: the database has certainly not executed it.
  void failed(bool was_refused) noexcept {
    if (answered() && !was_refused) next_ = step::find_out;
  }

  // The fast path has sent the request. It sends the request again only after row_locked() or restart().
  void fast_sent() noexcept {
    if (next_ == step::fast) next_ = step::enqueue;
    sent();
  }
  // may_join: the request can be decided together with others of its name, so the fast path is worth a try.
  void row_locked(bool may_join) noexcept {
    if (!must_edit()) next_ = may_join ? step::fast : step::edit;
  }
  void needs_edit() noexcept {
    if (next_ != step::find_out) next_ = step::edit;
  }
  void queued() noexcept {
    was_queued_ = is_stored_ = true;
    needs_edit();
  }
  // The database has granted the request. After a hand-over an edit may still follow, which moves the hold to a lease of
  // its own.
  void granted() noexcept { is_stored_ = true; }
  void granted(bool contended) noexcept {
    granted();
    was_contended_ = contended;
  }
  // Begins again as a new request, under a new hold id.
  void restart() noexcept {
    next_ = step::fast;
    is_stored_ = was_contended_ = false;
  }

 private:
  step next_ = step::fast;
  bool in_flight_ = false;
  bool was_queued_ = false;
  bool is_stored_ = false;
  bool was_contended_ = false;
};

}  // namespace rowlock::client_layer
