// Keeps the process's one lease, and looks after those who wait: one connection for renewals, wake-ups and
// polls.
#pragma once

#include "client/bulletin.hpp"
#include "client/delivery.hpp"
#include "client/herald.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"
#include "client/waiting_room.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace rowlock::client_layer {

using model::hold_id;
using model::lease_id;

class lease_keeper {
 public:
  lease_keeper(context& shared, submission_queue& queue, waiting_room& room, delivery& deliver,
               hold_registry& holds, recent_releases& releases, herald& herald, connector connect,
               std::function<store::lease_record(lease_id)> describe);

  // The lease on which new requests go. Null while there is none, or the last one is past its deadline.
  std::shared_ptr<client_layer::lease> lease() const;

  session_slot& slot() noexcept { return slot_; }
  // Before run(): the database tells nobody of changes. It is asked while somebody waits, and else left
  // alone.
  void must_ask() noexcept { must_ask_ = true; }
  void run();  // the thread's body, until stop()
  void stop();
  // Ends the lease in the database. After run() has returned; throws what the store throws.
  void end_lease();

  // Any thread. Brings forward a look at the waiting room, or a renewal.
  void look_at(instant when);
  void renew_soon();
  // Any thread. From now on news of offices are published; soon, and never where the database must be asked.
  void hear_of_offices();
  bool hears_of_offices() const noexcept { return hears_of_offices_.load(); }
  bulletin& news() noexcept { return news_; }
  // How many wake-ups have come. Any thread.
  std::uint64_t hints_heard() const noexcept { return hints_.load(); }
  // Watchdog: ends the lease once its deadline has passed. The next deadline to watch, if there is one.
  std::optional<instant> expire(instant now);

 private:
  void step();
  void listen_to_offices();
  void make_lease();
  void lose_lease(const std::shared_ptr<client_layer::lease>& lost, loss reason);
  void renew();
  void check_world(const store::renewal_reply& reply, instant sent_at);
  // Of the others, those who are asked to give up their lock are told.
  std::vector<hold_ptr> missing_holds();
  void pass_on_request(const hold_ptr& hold);
  void check_holds(loss reason);
  void look_after_holds();
  void send_releases_again();
  void heard();
  void ask();
  bool look();  // true when somebody was granted
  // By name, for those who wait there are many.
  using barrier_dues = std::unordered_map<std::string, std::chrono::microseconds>;
  std::chrono::microseconds due_in(const store::hold_status& status, const std::string& name,
                                   barrier_dues& of_barriers);
  void sweep();
  instant next_event() const;
  void pause(std::chrono::nanoseconds length);

  context& shared_;
  submission_queue& queue_;
  waiting_room& room_;
  delivery& deliver_;
  hold_registry& holds_;
  recent_releases& releases_;
  herald& herald_;
  std::function<store::lease_record(lease_id)> describe_;
  session_slot slot_;

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  std::shared_ptr<client_layer::lease> lease_;
  bool stopped_ = false;

  std::atomic<std::int64_t> look_at_;  // nanoseconds of an instant
  std::atomic<std::uint64_t> hints_{0};
  std::atomic<bool> renew_now_{false};
  std::atomic<bool> silent_{true};  // nobody waits, so nothing is asked
  std::atomic<bool> wants_offices_{false};
  std::atomic<bool> hears_of_offices_{false};
  bulletin news_;
  bool must_ask_ = false;

  // Used by the keeper's thread alone.
  backoff reconnect_ = reconnect_pause();
  std::shared_ptr<client_layer::lease> dead_;  // to be ended in the database
  store::world world_;
  std::int64_t notice_ = 0;
  instant renew_at_{};
  instant sweep_at_{};
  instant ask_at_ = instant::max();
  backoff asking_ = hint_pause();
  instant check_at_{};       // the holds are not looked after before
  bool check_due_ = false;   // a hint came that no waiter explains
  bool suspicious_ = false;  // a hold was found missing
};

}  // namespace rowlock::client_layer
