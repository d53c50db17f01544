#include "client/hold_audit.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace rowlock::client_layer {

namespace {

// How many holds one statement asks about, and how many of them are looked at with each renewal though
// nothing has happened.
constexpr std::size_t chunk = 1000;
constexpr std::size_t page = 256;

}  // namespace

hold_audit::hold_audit(context& shared, submission_queue& queue, hold_registry& holds,
                       recent_releases& releases, herald& herald, session_slot& slot)
    : shared_(shared), queue_(queue), holds_(holds), releases_(releases), herald_(herald), slot_(slot) {}

// What happened to the holds of before, while nobody heard of it, shows only in their rows.
void hold_audit::begin(model::lease_id client, const store::world& world) {
  holds_.hear_as(client);
  news_.reset();
  check_.reset();
  suspicious_ = false;
  notice_ = 0;
  if (holds_.empty()) {
    world_ = world;
    return;
  }
  const bool same_world = world == world_;
  check_ = check{holds_.begin_check(), 0, news{world, 0, {}}, same_world ? loss::forced : loss::gone};
}

void hold_audit::hear(const store::renewal_reply& reply, instant sent_at) {
  news_ = news{reply.world, reply.renewed.front().notice, sent_at};
  page_due_ = true;
}

void hold_audit::forget() {
  check_.reset();
  asked_.clear();
}

instant hold_audit::next() const {
  if (news_ || check_ || page_due_ || !asked_.empty() || holds_.has_unchecked()) return {};
  return std::min(doubted_ ? doubt_at_ : instant::max(),
                  holds_.has_unreachable() ? unreachable_at_ : instant::max());
}

bool hold_audit::step() {
  const auto now = shared_.time.now();
  if (holds_.has_unchecked()) {
    look_at_unchecked();
  } else if (news_ && !(check_ && check_->about)) {
    begin_check();
  } else if (check_) {
    return go_on_with_check();
  } else if (!asked_.empty()) {
    pass_on_request();
  } else if (doubted_ && now >= doubt_at_) {
    doubt_at_ = now + shared_.settings.poll_interval;
    doubted_ = false;
    check_ = check{holds_.all()};
  } else if (page_due_) {
    return look_at_page();
  } else if (holds_.has_unreachable() && now >= unreachable_at_) {
    look_at_unreachable();
  }
  return false;
}

// A renewal that succeeds says only that the lease row is there. Whether the locks are is asked when the
// world or the notice has changed.
void hold_audit::begin_check() {
  auto heard = *news_;
  if (heard.world.marker.empty() || heard.world.identity != heard.world.recorded_identity) {
    heard.world = slot_.call([](store::session& session) { return session.refresh_world(); });
  }
  const bool same_marker = news_->world.marker == world_.marker;
  const bool same_world = same_marker && heard.world == world_;
  const bool noticed = heard.notice != notice_;
  if (same_marker) {
    releases_.confirm(heard.sent_at);
  } else {
    shared_.log(log_level::warning, "the database has crashed or failed over: checking every hold");
    send_releases_again();
  }
  news_.reset();
  if (same_world && !noticed && !suspicious_) return;
  check_ = check{holds_.begin_check(), 0, std::move(heard), noticed ? loss::forced : loss::gone};
}

bool hold_audit::go_on_with_check() {
  auto& now = *check_;
  const std::span<const hold_ptr> left = std::span{now.holds}.subspan(now.next);
  const auto part = left.first(std::min(chunk, left.size()));
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
    if (on_new_world && now.about->world != world_) on_new_world(now.about->world);
    world_ = now.about->world;
    notice_ = now.about->notice;
    reason_ = now.reason;
    suspicious_ = false;
    page_due_ = false;
  }
  check_.reset();
  return false;
}

bool hold_audit::look_at_page() {
  suspicious_ = !missing(holds_.next_page(page)).empty() || suspicious_;
  page_due_ = false;
  return suspicious_;
}

// They came after a check had begun that read the news of them.
void hold_audit::look_at_unchecked() {
  const auto holds = holds_.unchecked();
  const std::span<const hold_ptr> all{holds};
  const auto part = all.first(std::min(chunk, all.size()));
  lose(missing(part), check_ && check_->about ? check_->reason : reason_);
  holds_.checked(part);
}

// No news will come of them: nobody but a force or a reclaim takes them in a world that has not changed.
void hold_audit::look_at_unreachable() {
  lose(missing(holds_.next_unreachable(chunk)), loss::forced);
  unreachable_at_ = shared_.time.now() + shared_.settings.poll_interval;
}

void hold_audit::pass_on_request() {
  const auto hold = asked_.back();
  const auto now = shared_.time.now();
  const auto stored = slot_.call([&](store::session& session) { return session.show(hold->name()); });
  asked_.pop_back();
  if (stored && stored->request) herald_.ask(hold, stored->request->reason, now + stored->request->within);
}

// Notes those that are asked for.
std::vector<hold_ptr> hold_audit::missing(std::span<const hold_ptr> holds) {
  std::vector<hold_ptr> gone;
  if (holds.empty()) return gone;
  std::vector<store::hold_query> queries;
  queries.reserve(holds.size());
  for (const auto& hold : holds) queries.push_back({hold->name(), hold->id()});
  const auto replies = slot_.call([&](store::session& session) { return session.find(queries); });
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (replies[i].state != store::hold_status::where::held) {
      gone.push_back(holds[i]);
    } else if (replies[i].is_asked_for && std::ranges::find(asked_, holds[i]) == asked_.end()) {
      asked_.push_back(holds[i]);
    }
  }
  return gone;
}

void hold_audit::lose(const std::vector<hold_ptr>& holds, loss reason) {
  const auto now = shared_.time.now();
  std::vector<hold_ptr> expired;
  std::vector<hold_ptr> taken;
  for (const auto& hold : holds) (hold->lease()->is_valid(now) ? taken : expired).push_back(hold);
  herald_.lose(std::move(expired), loss::expired);
  herald_.lose(std::move(taken), reason);
}

void hold_audit::send_releases_again() {
  for (auto& release : releases_.take_all()) {
    auto operation = std::make_shared<release_operation>();
    operation->name = std::move(release.name);
    operation->hold = release.hold;
    operation->lease = std::move(release.lease);
    operation->how = store::durability::durable;
    queue_.submit(std::move(operation));
  }
}

}  // namespace rowlock::client_layer
