// Decides requests under the row of their lock, with one edit for all requests of a name, and repeats this
// until each is answered.
#pragma once

#include "client/connection/session_slot.hpp"
#include "client/core/submission_queue.hpp"
#include "client/decision/decisions.hpp"
#include "client/worker/edit_round.hpp"
#include "client/worker/worker_services.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Part of a worker, used by its thread.
class slow_path {
 public:
  slow_path(worker_services& client, session_slot& slot)
      : client_(client), environment_(client.environment), slot_(slot) {}

  // Makes room for that many requests, so that add() needs no memory.
  void reserve(std::size_t count) { items_.reserve(count); }
  void add(acquire_ptr operation);
  void add(release_ptr operation);
  // Answers all requests that were added, or delays those whose row stays locked. Throws what the store throws.
  void decide_all();
  // Gives back the requests that decide_all() left without an answer when it threw.
  void take_back(batch& work);

 private:
  struct request {
    acquire_ptr acquire;
    release_ptr release;
    std::optional<store::lease_record> own_lease{};  // of an explicit ttl: where this try puts the hold
    instant sent_at{};
    std::uint64_t wakeups{};  // received before it was sent
    bool reads_all = false;   // it was decided with those permits that it names, and must be decided again
    decision made{};

    bool is_empty() const { return !acquire && !release; }
    const std::string& name() const { return acquire ? acquire->definition.name : release->name; }
  };

  void decide_round(int round);
  edit_item asked(const request& item) const;
  bool trusts_in_use(const request& item) const;
  void make_own_lease(request& item) const;
  store::lease_record explicit_lease(lease_id id, std::chrono::milliseconds ttl) const;
  decision decide(const request& item, const store::lock_view& view,
                  const edit_round::companions& others) const;
  // Each returns whether the request needs another round.
  bool take(request& item, edit_reply& reply, int round);
  bool finish(request& item, const edit_reply& reply, int round);
  void finish_acquire(const request& item);
  void finish_release(const request& item);
  void take_own_lease(const request& item) const;
  void on_absent(const release_ptr& operation);
  void on_row_locked(const request& item);

  worker_services& client_;
  client_environment& environment_;
  session_slot& slot_;
  std::vector<request> items_;
};

}  // namespace rowlock::client_layer
