// The store's verbs on one PostgreSQL connection.
#pragma once

#include "store/hot_row.hpp"
#include "store/postgres/postgres_listener.hpp"
#include "store/postgres/postgres_setup.hpp"
#include "store/sql_session.hpp"
#include "store/waker.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rowlock::store {

class postgres_session final : public sql_session {
 public:
  postgres_session(std::shared_ptr<const postgres_context> context, connect_watch& watch);

  bool is_pooled() const noexcept { return connection_.is_pooled(); }

  database_state read_database_state() override;
  database_state record_database_state() override;
  std::int64_t raise_epoch(token above) override;

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
  held_page read_held(lease_id client, const std::string& after, std::size_t limit) override;

  std::int64_t collect(std::chrono::milliseconds idle, std::size_t limit) override;

  void listen(lease_id client) override;
  void send_wakeups(std::span<const wakeup> told) override;
  bool wait(std::chrono::nanoseconds timeout) override;
  std::vector<hold_id> woken_waiters() override { return std::exchange(granted_, {}); }
  void end_wait() noexcept override;
  void interrupt() noexcept override;
  std::string warning() const override { return listener_ ? listener_->complaint() : std::string{}; }

  std::string backend() const override { return facts_.backend; }
  bool end_ghost(const std::string& backend) override;

 private:
  void read(const std::string& statement, sql_values values, extent how, const rows_reader& use) override;
  std::int64_t write(const std::string& statement, sql_values values, durability how) override;

  template <class Decide>
  auto with_meta(const std::string& verb, Decide decide);
  std::vector<grant> acquire_one(const acquire_item& request);
  std::vector<grant> acquire_exclusive(std::span<const acquire_item> requests);
  std::vector<grant> acquire_shared(std::span<const acquire_item> requests);
  // Runs the statement, which acquires or releases permits of the lock `name`. name is empty if the permits are of
  // several locks. Returns no rows if the statement did nothing, or the lock's row is locked.
  template <class... Args>
  postgres_rows call_for_permits(const std::string& name, const std::string& statement, const Args&... args);
  // statement: the statement for several requests. That for a single request has the same name with "_one" behind it.
  std::vector<hold_id> release_by(const std::string& statement, std::span<const release_item> requests,
                                  durability how);
  bool receive();  // returns false if nothing has arrived
  bool drain();
  std::string channel_of(lease_id client) const { return context_->options.prefix + client.to_string(); }

  std::shared_ptr<const postgres_context> context_;
  postgres_opened opened_;
  postgres_connection& connection_ = *opened_.connection;
  const postgres_facts& facts_ = opened_.facts;
  std::unique_ptr<postgres_listener> listener_;  // behind a pooler, if options::listen_url is given
  waker waker_;
  std::vector<hold_id> granted_;
  hot_row hot_{context_->options.statement_timeout};
};

}  // namespace rowlock::store
