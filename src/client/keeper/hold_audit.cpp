#include "client/keeper/hold_audit.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace rowlock::client_layer {

namespace {

// How many holds one statement asks about.
constexpr std::size_t holds_per_statement = 1000;
// About how many holds are looked up after each renewal, although nothing has happened.
constexpr std::size_t holds_per_renewal = 256;

}  // namespace

hold_audit::hold_audit(client_environment& environment, submission_queue& queue, hold_registry& holds,
                       recent_releases& releases, loss_notifier& loss_notifier, session_slot& slot)
    : environment_(environment),
      queue_(queue),
      holds_(holds),
      releases_(releases),
      loss_notifier_(loss_notifier),
      slot_(slot) {}

// What happened to earlier holds meanwhile shows only in their rows: no lease received notices about them.
void hold_audit::begin(model::lease_id client, const store::database_state& database_state) {
  holds_.receive_as(client);
  latest_report_.reset();
  check_.reset();
  suspicious_ = false;
  notice_ = 0;
  if (holds_.empty()) {
    state_ = database_state;
    return;
  }
  const bool is_recorded_server = database_state == state_;
  check_ = check{holds_.begin_check(), 0, renewal_report{database_state, 0, {}},
                 is_recorded_server ? loss::forced : loss::gone};
}

void hold_audit::on_renewal(const store::renewal_reply& reply, instant sent_at) {
  latest_report_ = renewal_report{reply.database_state, reply.renewed.front().notice, sent_at};
  page_due_ = true;
}

void hold_audit::forget() {
  check_.reset();
  asked_.clear();
}

instant hold_audit::next() const {
  if (latest_report_ || check_ || page_due_ || !asked_.empty() || holds_.has_unchecked()) return {};
  return std::min(suspected_ ? suspect_at_ : instant::max(),
                  holds_.has_unreachable() ? unreachable_at_ : instant::max());
}

bool hold_audit::step() {
  const auto now = environment_.time.now();
  if (holds_.has_unchecked()) {
    look_at_unchecked();
  } else if (latest_report_ && !(check_ && check_->about)) {
    begin_check();
  } else if (check_) {
    return go_on_with_check();
  } else if (!asked_.empty()) {
    pass_on_request();
  } else if (suspected_ && now >= suspect_at_) {
    suspect_at_ = now + environment_.settings.poll_interval;
    suspected_ = false;
    check_ = check{holds_.all()};
  } else if (page_due_) {
    return look_at_page();
  } else if (holds_.has_unreachable() && now >= unreachable_at_) {
    look_at_unreachable();
  }
  return false;
}

// A renewal that succeeds says only that the lease's row exists. Whether the holds exist is looked up when
// the state of the database or the notice has changed.
void hold_audit::begin_check() {
  auto heard = *latest_report_;
  if (heard.database_state.marker.empty() ||
      heard.database_state.identity != heard.database_state.recorded_identity) {
    heard.database_state =
        slot_.call([](store::lock_verbs& session) { return session.record_database_state(); });
  }
  const bool same_marker = latest_report_->database_state.marker == state_.marker;
  const bool is_recorded_server = same_marker && heard.database_state == state_;
  const bool noticed = heard.notice != notice_;
  if (same_marker) {
    releases_.confirm(heard.sent_at);
  } else {
    environment_.log(log_level::warning, "the database has crashed or failed over: checking every hold");
    send_releases_again();
  }
  latest_report_.reset();
  if (is_recorded_server && !noticed && !suspicious_) return;
  check_ = check{holds_.begin_check(), 0, std::move(heard), noticed ? loss::forced : loss::gone};
}

bool hold_audit::go_on_with_check() {
  auto& now = *check_;
  if (now.next == 0) skipped_ = false;
  const std::span<const hold_ptr> left = std::span{now.holds}.subspan(now.next);
  const auto part = left.first(std::min(holds_per_statement, left.size()));
  const auto gone = missing(part);
  if (!now.about && !gone.empty()) {
    suspicious_ = true;
    check_.reset();
    return true;
  }
  lose(gone, now.reason);
  now.next += part.size();
  if (now.next < now.holds.size()) return false;
  if (now.about) {
    if (on_database_changed && now.about->database_state != state_)
      on_database_changed(now.about->database_state);
    state_ = now.about->database_state;
    if (!skipped_) notice_ = now.about->notice;
    reason_ = now.reason;
    suspicious_ = false;
    page_due_ = false;
  }
  check_.reset();
  return false;
}

bool hold_audit::look_at_page() {
  suspicious_ = !missing(holds_.next_page(holds_per_renewal)).empty() || suspicious_;
  page_due_ = false;
  return suspicious_;
}

// A check that had begun before these holds were added has consumed news that may concern them.
void hold_audit::look_at_unchecked() {
  const auto holds = holds_.unchecked();
  const std::span<const hold_ptr> all{holds};
  const auto part = all.first(std::min(holds_per_statement, all.size()));
  lose(missing(part), check_ && check_->about ? check_->reason : reason_);
  holds_.checked(part);
}

// No notice reports a loss of these holds. While the database does not change, only a forced release or a
// reclaim can take them.
void hold_audit::look_at_unreachable() {
  lose(missing(holds_.next_unreachable(holds_per_statement)), loss::forced);
  unreachable_at_ = environment_.time.now() + environment_.settings.poll_interval;
}

void hold_audit::pass_on_request() {
  const auto hold = asked_.back();
  const auto now = environment_.time.now();
  const auto stored = slot_.call([&](store::admin_verbs& session) { return session.show(hold->name()); });
  if (stored && stored->request)
    loss_notifier_.notify_request(hold, stored->request->reason, now + stored->request->within);
  asked_.pop_back();
}

// Returns the holds that are missing in the database, and notes in asked_ those that have a release request.
// A hold that the database has on another lease is missing, too: a fail-over has lost its move to a lease of
// its own. Once that hold is lost here, the reconciliation that follows a change of the database releases it
// on the other lease.
std::vector<hold_ptr> hold_audit::missing(std::span<const hold_ptr> holds) {
  std::vector<hold_ptr> gone;
  if (holds.empty()) return gone;
  std::vector<store::hold_query> queries;
  queries.reserve(holds.size());
  for (const auto& hold : holds) queries.push_back({hold->name(), hold->id()});
  const auto replies = slot_.call([&](store::lock_verbs& session) { return session.find(queries); });
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const auto& found = replies[i];
    if (found.state != store::hold_status::where::held || found.lease != holds[i]->lease()->id()) {
      holds[i]->is_moving() ? suspect_again() : gone.push_back(holds[i]);
    } else if (found.is_asked_for && std::ranges::find(asked_, holds[i]) == asked_.end()) {
      asked_.push_back(holds[i]);
    }
  }
  return gone;
}

// Whether a hold that moves is lost can be seen only when its move is over.
void hold_audit::suspect_again() noexcept {
  skipped_ = true;
  suspected_ = true;
  suspect_at_ = environment_.time.now() + environment_.settings.poll_interval;
}

void hold_audit::lose(const std::vector<hold_ptr>& holds, loss reason) {
  const auto now = environment_.time.now();
  std::vector<hold_ptr> expired;
  std::vector<hold_ptr> taken;
  for (const auto& hold : holds) (hold->lease()->is_valid(now) ? taken : expired).push_back(hold);
  loss_notifier_.lose(expired, loss::expired);
  loss_notifier_.lose(taken, reason);
}

void hold_audit::send_releases_again() {
  release_list again;
  const auto releases = releases_.all();
  for (const auto& release : releases) {
    auto operation = withdrawal_of(release.name, release.hold, release.lease);
    operation->how = store::durability::durable;
    again.push(std::move(operation));
  }
  queue_.submit(std::move(again));
  releases_.forget_first(releases.size());
}

}  // namespace rowlock::client_layer
