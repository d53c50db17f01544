#include "memory/memory_server.hpp"

#include "memory/memory_database.hpp"
#include "memory/memory_session.hpp"

#include <rowlock/error.hpp>

#include <ctime>
#include <iterator>
#include <utility>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;

timestamp boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds{time.tv_sec} +
         std::chrono::duration_cast<timestamp>(std::chrono::nanoseconds{time.tv_nsec});
}

}  // namespace

void throw_unreachable(bool in_doubt) {
  throw error(errc::unreachable, "the connection to the memory server broke", "memory", in_doubt);
}

void memory_call::block() {
  std::unique_lock lock{server.mutex_};
  const auto generation = server.unblocked_;
  ++server.blocked_;
  server.changed_.notify_all();
  server.changed_.wait(lock, [&] { return server.unblocked_ != generation || is_broken(); });
  --server.blocked_;
  if (is_broken()) throw_unreachable();
}

void memory_call::pause(std::chrono::nanoseconds length) {
  std::unique_lock lock{server.mutex_};
  if (server.changed_.wait_for(lock, length, [&] { return is_broken(); })) throw_unreachable();
}

bool memory_call::is_broken() const {
  return session ? session->broken_ : broken_off;
}

void memory_call::break_off() {
  const std::lock_guard lock{server.mutex_};
  broken_off = true;
  server.changed_.notify_all();
}

memory_server::memory_server()
    // The clock begins after 2026-01-01, where epochs begin.
    : clock_{std::chrono::sys_days{std::chrono::year{2026} / 7 / 1}.time_since_epoch()} {}

std::unique_ptr<database> memory_server::open() {
  return std::make_unique<memory_database>(shared_from_this());
}

timestamp memory_server::now() const {
  return boot_time_ ? clock_ + (passes_by_() - *boot_time_) : clock_;
}

void memory_server::advance(std::chrono::microseconds by) {
  const std::lock_guard lock{mutex_};
  clock_ += by;
}

void memory_server::let_time_pass() {
  let_time_pass(boot_time);
}

void memory_server::let_time_pass(std::function<timestamp()> by) {
  const std::lock_guard lock{mutex_};
  if (boot_time_) return;
  passes_by_ = std::move(by);
  boot_time_ = passes_by_();
}

void memory_server::expire(const lease_id& lease, std::chrono::microseconds ago) {
  const std::lock_guard lock{mutex_};
  tables_.leases.at(lease).expires_at = now() - ago;
}

void memory_server::age(const std::string& name, std::chrono::microseconds unused_for) {
  const std::lock_guard lock{mutex_};
  tables_.locks.at(name).used_at = now() - unused_for;
  if (const auto permits = tables_.permits.find(name); permits != tables_.permits.end()) {
    for (auto& [hold, permit] : permits->second) permit.granted_at = now() - unused_for;
  }
}

void memory_server::make_unknown(const std::string& name) {
  const std::lock_guard lock{mutex_};
  tables_.locks.at(name).row.kind = model::lock_kind::unknown;
}

void memory_server::delete_lock(const std::string& name) {
  const std::lock_guard lock{mutex_};
  tables_.locks.erase(name);
  tables_.permits.erase(name);
  tables_.queues.erase(name);
}

void memory_server::make_cluster(std::size_t nodes) {
  const std::lock_guard lock{mutex_};
  nodes_.resize(nodes);
}

void memory_server::fall_behind(std::size_t node) {
  const std::lock_guard lock{mutex_};
  nodes_.at(node).fall_behind(tables_, commits_);
}

void memory_server::catch_up(std::size_t node) {
  const std::lock_guard lock{mutex_};
  nodes_.at(node).catch_up();
}

std::size_t memory_server::sessions() const {
  const std::lock_guard lock{mutex_};
  return sessions_.size();
}

void memory_server::lock_row(const std::string& name) {
  const std::lock_guard lock{mutex_};
  locked_rows_.insert(name);
}

void memory_server::unlock_row(const std::string& name) {
  const std::lock_guard lock{mutex_};
  locked_rows_.erase(name);
}

bool memory_server::guard(const std::string& name, const hold_id& hold) {
  const std::lock_guard lock{mutex_};
  const auto found = tables_.locks.find(name);
  if (found == tables_.locks.end() || locked_rows_.contains(name)) return false;
  const auto permits = tables_.permits.find(name);
  const bool shared = permits != tables_.permits.end() && permits->second.contains(hold);
  if (!shared && found->second.row.hold != hold) return false;
  guards_.emplace(name, hold);
  return true;
}

void memory_server::unguard(const std::string& name) {
  const std::lock_guard lock{mutex_};
  guards_.erase(std::prev(guards_.upper_bound(name)));
}

bool memory_server::end_guard(const std::string& name, const hold_id& hold) {
  const std::lock_guard lock{mutex_};
  const auto [first, last] = guards_.equal_range(name);
  const auto found = std::find_if(first, last, [&](const auto& one) { return one.second == hold; });
  if (found == last) return false;
  guards_.erase(found);
  return true;
}

void memory_server::lose_wakeups(std::size_t count) {
  const std::lock_guard lock{mutex_};
  wakeups_to_lose_ = count;
}

void memory_server::observe(memory_observer* observer) {
  const std::lock_guard lock{mutex_};
  observer_ = observer;
}

void memory_server::count_nothing() {
  const std::lock_guard lock{mutex_};
  counts_ = false;
}

void memory_server::show_commits_early() {
  const std::lock_guard lock{mutex_};
  shows_commits_early_ = true;
}

void memory_server::tell_nobody() {
  const std::lock_guard lock{mutex_};
  tells_ = false;
}

void memory_server::on_call(hook around_each_verb) {
  const std::lock_guard lock{mutex_};
  hook_ = std::move(around_each_verb);
}

void memory_server::unblock() {
  const std::lock_guard lock{mutex_};
  ++unblocked_;
  changed_.notify_all();
}

std::size_t memory_server::blocked() const {
  const std::lock_guard lock{mutex_};
  return blocked_;
}

void memory_server::run_ghosts() {
  const std::lock_guard lock{mutex_};
  for (const auto& one : std::exchange(ghosts_, {})) transact_locked(one.work);
}

void memory_server::name_backends() {
  const std::lock_guard lock{mutex_};
  names_backends_ = true;
}

void memory_server::keep_history() {
  const std::lock_guard lock{mutex_};
  keeps_history_ = true;
}

void memory_server::crash(bool lose_asynchronous) {
  const std::lock_guard lock{mutex_};
  while (lose_asynchronous && !history_.empty() && history_.back().how == durability::asynchronous) {
    tables_ = std::move(history_.back().before);
    history_.pop_back();
  }
  marker_.clear();
  break_sessions();
  if (observer_ != nullptr) observer_->taken_back(tables_);
}

void memory_server::fail_over(const std::string& identity, std::size_t lost_commits) {
  const std::lock_guard lock{mutex_};
  for (; lost_commits > 0 && !history_.empty(); --lost_commits) {
    tables_ = std::move(history_.back().before);
    history_.pop_back();
  }
  identity_ = identity;
  marker_.clear();
  break_sessions();
  if (observer_ != nullptr) observer_->taken_back(tables_);
}

void memory_server::change_identity(const std::string& identity) {
  const std::lock_guard lock{mutex_};
  identity_ = identity;
}

void memory_server::lose_marker() {
  const std::lock_guard lock{mutex_};
  marker_.clear();
}

memory_tables memory_server::snapshot() const {
  const std::lock_guard lock{mutex_};
  return tables_;
}

void memory_server::call_hook(memory_call& call) {
  const hook around = [this] {
    const std::lock_guard lock{mutex_};
    return hook_;
  }();
  if (around) around(call);
}

memory_node::moment memory_server::send(std::size_t node) const {
  const std::lock_guard lock{mutex_};
  if (!nodes_.at(node).is_behind()) return {};
  return {commits_, std::make_shared<const memory_tables>(tables_)};
}

void memory_server::transact(const std::function<void(memory_transaction&)>& work, std::size_t node,
                             const memory_node::moment& sent) {
  const std::lock_guard lock{mutex_};
  memory_node& there = nodes_.at(node);
  if (!there.is_behind()) return transact_locked(work);
  there.apply(sent);
  transact_locked(work, &there);
}

// Runs the transaction at a node that is behind, with the node's tables.
void memory_server::transact_locked(const std::function<void(memory_transaction&)>& work,
                                    memory_node* behind) {
  std::optional<memory_tables> made;
  if (behind != nullptr) made = behind->tables();
  std::optional<memory_tables> before;
  if (keeps_history_) before = tables_;
  memory_transaction transaction{.tables = made ? *made : tables_,
                                 .marker = marker_,
                                 .identity = identity_,
                                 .locked_rows = locked_rows_,
                                 .guards = guards_,
                                 .now = now()};
  work(transaction);
  if (transaction.wrote && behind != nullptr) {
    if (!certify(behind->tables(), *made, tables_)) {
      if (observer_ != nullptr) observer_->conflicted();
      throw error(errc::contention, "another node has changed the row before", "1213");
    }
    behind->commit(tables_, commits_ + 1);
  }
  for (const wakeup& one : transaction.told) announce(one);
  if (!transaction.wrote) return;
  ++commits_;
  if (before) history_.push_back({std::move(*before), transaction.how});
  if (observer_ != nullptr) observer_->committed(tables_, now(), transaction.how);
}

void memory_server::announce(const wakeup& told) {
  if (wakeups_to_lose_ > 0) {
    --wakeups_to_lose_;
    return;
  }
  for (memory_session* session : sessions_) {
    if (session->listens_for_.contains(told.client)) session->heard_.push_back(told.granted);
  }
  changed_.notify_all();
}

void memory_server::break_sessions() {
  for (memory_session* session : sessions_) session->broken_ = true;
  for (memory_node& node : nodes_) node.catch_up();
  // The connections of the rivals are gone, and their transactions with them.
  locked_rows_.clear();
  guards_.clear();
  changed_.notify_all();
}

}  // namespace rowlock::store
