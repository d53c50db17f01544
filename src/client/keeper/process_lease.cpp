#include "client/keeper/process_lease.hpp"

#include "client/core/history_lines.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

process_lease::created process_lease::create() {
  const auto id = model::lease_id::random();
  const auto record = environment_.process.lease(id, id, environment_.settings.ttl);
  auto made = std::make_shared<lease>(record.id, record.ttl, true, record.id);
  const auto sent_at = environment_.time.now();
  auto state = slot_.call([&](store::session& session) {
    auto now = session.record_database_state();
    environment_.stored_skew_ms.store(now.skew.count());
    update_recorded(environment_, session, now.recordings);
    session.create_lease(record);
    session.listen(record.id);
    return now;
  });
  made->confirm(sent_at, environment_.margin(record.ttl));
  return {std::move(made), std::move(state), sent_at};
}

void process_lease::reserve() {
  const model::annotated_lock lock{mutex_};
  if (lost_.capacity() == lost_.size()) lost_.reserve(2 * lost_.size() + 1);
}

// Holders are notified first. Another thread writes the log.
void process_lease::lose(const std::shared_ptr<lease>& lost, loss reason) noexcept {
  {
    const model::annotated_lock lock{mutex_};
    if (!queue_.drop_lease(*lost)) return;
    lost_.push_back({lost->id(), lost->end() + environment_.margin(lost->ttl())});
  }
  notifier_.deliver(holds_.lose(*lost, reason));
  environment_.log(log_level::warning, "lease {} is lost: {}", lost->id(), to_string(reason));
}

std::optional<store::renewal_reply> process_lease::renew(instant sent_at) {
  const auto renewed = queue_.lease();
  if (!renewed) return {};  // past its deadline: never renewed (I3)
  const model::lease_id ids[] = {renewed->id()};
  auto reply = slot_.call([&](store::lock_verbs& session) {
    auto first = session.renew(ids);
    if (!first.renewed.empty() || first.database_state.identity == first.database_state.recorded_identity)
      return first;
    // Another server's clock may judge the lease only after the lease has been lengthened for it.
    session.record_database_state();
    return session.renew(ids);
  });
  if (reply.renewed.empty()) {
    lose(renewed, loss::gone);
    return {};
  }
  const auto before = renewed->confirmed_at();
  if (!renewed->is_valid(environment_.time.now()) ||
      !renewed->confirm(sent_at, environment_.margin(renewed->ttl()))) {
    // The answer came after the deadline, when the holders had learned of their loss: this lease is over,
    // whatever its row says.
    lose(renewed, loss::expired);
    return {};
  }
  if (sent_at - before > renewed->ttl() / 2) environment_.count.late_renewals.fetch_add(1);
  environment_.count.renewals.fetch_add(1);
  return reply;
}

std::optional<instant> process_lease::expire(instant now) noexcept {
  const auto watched = queue_.lease_in_use();
  if (!watched) return {};
  if (watched->is_valid(now)) return watched->deadline();
  lose(watched, loss::expired);
  slot_.end_wait();
  return {};
}

instant process_lease::next_end() const {
  const model::annotated_lock lock{mutex_};
  auto first = instant::max();
  for (const auto& lost : lost_) first = std::min(first, lost.expires_at);
  return first;
}

std::vector<model::lease_id> process_lease::endable(instant now) const {
  std::vector<model::lease_id> ids;
  for (const auto& lost : lost_) {
    if (lost.expires_at <= now) ids.push_back(lost.id);
  }
  return ids;
}

void process_lease::end_lost() {
  std::vector<model::lease_id> ended;
  {
    const model::annotated_lock lock{mutex_};
    ended = endable(environment_.time.now());
  }
  slot_.call([&](store::lock_verbs& session) { session.end(ended); });
  const model::annotated_lock lock{mutex_};
  std::erase_if(lost_, [&](const lost_lease& lost) { return std::ranges::count(ended, lost.id) > 0; });
}

void process_lease::end_all() {
  std::shared_ptr<lease> last;
  std::vector<model::lease_id> ended;
  {
    const model::annotated_lock lock{mutex_};
    ended = endable(environment_.time.now());
    last = queue_.lease_in_use();
    if (last) {
      ended.push_back(last->id());
      queue_.drop_lease(*last);
    }
  }
  if (last) {
    last->end();
    notifier_.deliver(holds_.lose(*last, loss::closed));
  }
  if (ended.empty()) return;
  slot_.call([&](store::lock_verbs& session) { session.end(ended); });
  if (environment_.recorded.has_written())
    slot_.call([&](store::session& session) { prune_written(environment_, session); });
}

}  // namespace rowlock::client_layer
