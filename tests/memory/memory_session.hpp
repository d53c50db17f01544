// The verbs of the seam over a memory_server: each is one transaction under its mutex.
#pragma once

#include "memory/memory_server.hpp"
#include "store/history_verbs.hpp"
#include "store/store.hpp"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowlock::store {

// Adds the lines of history that an edit writes.
void add_history(memory_transaction& transaction, const std::string& name, const lock_change& change);

class memory_session final : public session, public history_verbs {
 public:
  explicit memory_session(std::shared_ptr<memory_server> server);
  ~memory_session() override;

  database_state read_database_state() override;
  database_state record_database_state() override;
  std::int64_t raise_epoch(token above) override;
  void set_skew(std::chrono::milliseconds skew) override;

  void create_lease(const lease_record& lease) override;
  renewal_reply renew(std::span<const lease_id> leases) override;
  std::vector<lease_id> kill(std::span<const lease_id> leases, std::chrono::microseconds skew) override;
  void end(std::span<const lease_id> leases) override;

  std::vector<grant> acquire(std::span<const acquire_item> requests) override;
  std::vector<grant> acquire_all(std::span<const acquire_item> requests) override;
  std::vector<hold_id> release(std::span<const release_item> requests, durability how) override;
  std::optional<std::chrono::microseconds> enqueue(const acquire_item& request,
                                                   std::chrono::microseconds skew) override;
  std::optional<hand_over_reply> hand_over(const release_item& request,
                                           std::chrono::microseconds skew) override;

  void create(std::span<const model::lock_definition> locks) override;
  std::vector<edit_result> edit_together(std::span<const edit_request> requests,
                                         const joint_decision& decide) override;

  std::vector<hold_status> find(std::span<const hold_query> holds) override;
  void make_durable(lease_id own) override;
  std::vector<lock_info> list(const std::string& after, std::size_t limit) override;
  std::optional<lock_info> show(const std::string& name) override;
  std::vector<waiter_info> queue(const std::string& name) override;
  held_page read_held(lease_id client, const std::string& after, std::size_t limit) override;
  stale find_stale(std::size_t limit, std::chrono::microseconds skew, const std::string& after) override;
  std::vector<std::string> waited_for() override;

  std::int64_t collect(std::chrono::milliseconds idle, std::size_t limit) override;

  history_verbs& history() override { return *this; }
  std::vector<recording> recordings() override;
  void check_history() override;
  void record(const recording& what) override;
  bool stop_recording(const std::string& pattern) override;
  std::vector<history_line> read_history(const std::string& name, std::int64_t before,
                                         std::size_t limit) override;
  std::int64_t prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                             std::size_t limit) override;
  std::vector<std::string> names_with_history(const std::string& after, std::size_t limit) override;

  void listen(lease_id client) override;
  void send_wakeups(std::span<const wakeup> told) override;
  bool wait(std::chrono::nanoseconds timeout) override;
  std::vector<hold_id> woken_waiters() override;
  wakeup_poll poll_wakeups() override;
  void end_wait() noexcept override;
  void interrupt() noexcept override;

  std::string backend() const override { return backend_; }
  bool end_ghost(const std::string& backend) override;

 private:
  friend class memory_server;
  friend struct memory_call;

  void throw_if_broken();

  // Runs a verb with the hook before and after it. work owns its arguments, because a ghost outlives the call and the
  // session.
  template <class Work>
  auto run(std::string_view verb, Work work) {
    memory_call call{.server = *server_, .verb = verb, .session = this, .sent = server_->send(node_)};
    return around(call, [&] {
      std::invoke_result_t<Work, memory_transaction&> result{};
      if (call.ghost) {
        add_ghost([work = std::move(work)](memory_transaction& transaction) { work(transaction); });
        throw_unreachable();
      }
      server_->transact([&](memory_transaction& transaction) { result = work(transaction); }, node_,
                        call.sent);
      return result;
    });
  }

  template <class Body>
  auto around(memory_call& call, Body body) {
    throw_if_broken();
    try {
      server_->call_hook(call);
      auto result = body();
      call.at = memory_call::phase::after;
      server_->call_hook(call);
      return result;
    } catch (...) {
      note_failure();
      throw;
    }
  }

  void note_failure();  // in a catch block: after error(unreachable) the session is broken
  void add_ghost(std::function<void(memory_transaction&)> work);

  std::shared_ptr<memory_server> server_;
  std::string backend_;
  std::size_t node_ = 0;
  // Guarded by the server's mutex.
  std::set<lease_id> listens_for_;
  std::vector<hold_id> heard_;    // as wakeup::granted
  std::vector<hold_id> granted_;  // the grants that the last wait() has told
  bool woken_ = false;
  bool broken_ = false;
};

}  // namespace rowlock::store
