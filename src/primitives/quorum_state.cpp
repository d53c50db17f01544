#include "primitives/quorum_state.hpp"

#include <rowlock/error.hpp>

#include "client/base/backoff.hpp"
#include "client/base/errors.hpp"
#include "client/base/stoppable_sleep.hpp"
#include "primitives/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace rowlock::primitives {

using std::chrono::nanoseconds;

nanoseconds remaining_of_majority(std::span<const hold_ptr> members, std::size_t majority) {
  std::vector<nanoseconds> left;
  for (const auto& member : members) {
    if (member && member->is_valid()) left.push_back(member->remaining());
  }
  if (left.size() < majority) return nanoseconds{0};
  std::sort(left.begin(), left.end(), std::greater<>{});
  return left[majority - 1];
}

member_holds::member_holds(std::size_t members) : holds_(members) {
  asked_.reserve(members);
  results_.reserve(members);
}

member_holds::~member_holds() {
  for (const auto& one : holds_) {
    if (one && !one->engine().is_forked()) one->engine().releaser().begin(*one);
  }
}

std::span<const release_result> member_holds::release(std::optional<client_layer::instant> until) {
  for (const auto& one : holds_) {
    if (!one) continue;
    auto& engine = one->engine();
    const auto last = engine.environment().time.now() + engine.environment().settings.close_timeout;
    asked_.push_back({&engine, engine.releaser().begin_certain(*one), until.value_or(last)});
  }
  results_.assign(holds_.size() - asked_.size(), release_result::lost);
  for (const auto& [engine, answer, last] : asked_) {
    try {
      results_.push_back(answer ? engine->releaser().await(answer, last) : release_result::lost);
    } catch (const std::exception&) {
      // The database refuses permanently, so nobody knows whether the hold stands.
      results_.push_back(release_result::unknown);
    }
  }
  return results_;
}

quorum_state::quorum_state(std::shared_ptr<member_holds> members, const limits& settings, model::token token)
    : members_(std::move(members)), settings_(settings), token_(token) {
  holds_.reserve(members_->all().size());
  for (const auto& member : members_->all()) holds_.push_back(access::make<hold>(member));
  const auto granted = std::ranges::find_if(members_->all(), [](const auto& one) { return one != nullptr; });
  first_ = granted->get();
  name_ = &first_->name();
  // If a member's hold is lost already, its callback runs here at once.
  for (const auto& member : members_->all()) {
    if (!member) continue;
    watches_.push_back(std::make_unique<watch>(member->stop_token(),
                                               [this, raw = member.get()] { member_was_lost(raw->loss()); }));
  }
}

quorum_state::~quorum_state() {
  if (is_forked()) {
    // A watch whose callback ran at the fork would wait for ever for the callback's end.
    for (auto& one : watches_) std::ignore = one.release();
  } else {
    release();
  }
}

std::size_t quorum_state::standing() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      members_->all(), [](const auto& one) { return one && one->loss() == rowlock::loss::none; }));
}

bool quorum_state::lose(rowlock::loss reason) noexcept {
  auto none = rowlock::loss::none;
  return loss_.compare_exchange_strong(none, reason);
}

// Runs the user's callbacks, one of which may destroy this object. Then releases the members' other holds, so
// that others can get a majority while this object exists.
void quorum_state::member_was_lost(rowlock::loss reason) noexcept {
  if (over_.load() || standing() >= settings_.majority || !lose(reason)) return;
  const auto members = members_;
  std::stop_source told = stop_;
  told.request_stop();
  for (const auto& member : members->all()) {
    if (member) member->engine().releaser().begin(*member);
  }
}

rowlock::loss quorum_state::loss() const noexcept {
  if (const auto told = loss_.load(); told != rowlock::loss::none || over_.load()) return told;
  if (standing() >= settings_.majority) return rowlock::loss::none;
  // The watchdogs may not have noticed the loss yet, but the hold must not count as valid.
  for (const auto& member : members_->all()) {
    if (member && member->loss() != rowlock::loss::none) return member->loss();
  }
  return rowlock::loss::none;
}

bool quorum_state::is_valid() const noexcept {
  return !over_.load() && loss() == rowlock::loss::none;
}

nanoseconds quorum_state::remaining() const noexcept {
  if (!is_valid()) return nanoseconds{0};
  return std::max(remaining_of_majority(members_->all(), settings_.majority) - settings_.drift,
                  nanoseconds{0});
}

std::stop_token quorum_state::stop_token() const noexcept {
  return loss() == rowlock::loss::none ? stop_.get_token() : client_layer::hold_state::stopped_token();
}

bool quorum_state::is_forked() const noexcept {
  return first_->engine().is_forked();
}

namespace {

// A text on its way to one member's hold.
class member_text {
 public:
  explicit member_text(const client_layer::hold_state& member) : member_(&member) {}

  bool is_over() const { return is_stored_ || is_gone_ || failure_; }
  bool is_stored() const { return is_stored_; }
  bool is_gone() const { return is_gone_; }  // the database no longer has the hold
  bool is_in_doubt() const { return failure_ && failure_->outcome_unknown(); }
  bool is_refused() const { return failure_ && !failure_->transient(); }
  const std::optional<error>& failure() const { return failure_; }

  void send(const std::string& text) {
    const auto id = member_->id();
    try {
      round_ = member_->engine().tasks().begin_decision(member_->name(), id, [id, text](const auto& view) {
        return client_layer::decide_set_data(view, id, text);
      });
    } catch (const error& failure) {
      fail(failure);
    }
  }

  // A text whose row is locked by a guarded transaction is not over, and will be sent again.
  void await(client_layer::instant deadline) {
    try {
      if (!member_->engine().tasks().await(round_, deadline)) {
        return fail({errc::unreachable, "it did not answer in time", {}, true});
      }
    } catch (const error& failure) {
      return fail(failure);
    }
    const auto settled = client_layer::task_executor::outcome_of(*round_);
    if (!settled) return;
    is_gone_ = settled->result == client_layer::outcome::what::absent;
    is_stored_ = !is_gone_;
  }

  void fail(const error& failure) { failure_.emplace(client_layer::copy_of(failure)); }

 private:
  const client_layer::hold_state* member_;
  std::shared_ptr<client_layer::edit_task> round_{};
  bool is_stored_ = false;
  bool is_gone_ = false;
  std::optional<error> failure_{};
};

// Sends the text until each member has answered finally, or the time has passed.
void send_to_all(std::vector<member_text>& texts, const std::string& text, client_layer::time_source& time,
                 client_layer::instant deadline) {
  client_layer::stoppable_sleep sleeper{time};
  auto pause = client_layer::row_probe();
  const auto open = [](const member_text& one) { return !one.is_over(); };
  for (;;) {
    for (auto& one : texts) {
      if (open(one)) one.send(text);
    }
    for (auto& one : texts) {
      if (open(one)) one.await(deadline);
    }
    if (std::ranges::none_of(texts, open)) return;
    if (time.now() >= deadline) break;
    sleeper.sleep_until(std::min(deadline, time.now() + pause.next()));
  }
  for (auto& one : texts) {
    if (open(one)) one.fail({errc::contention, "its row is locked by a guarded transaction"});
  }
}

}  // namespace

void quorum_state::set_data(const std::string& text) const {
  first_->engine().check_process();
  if (!is_valid()) throw client_layer::hold_is_over(name());
  std::vector<member_text> texts;
  for (const auto& member : members_->all()) {
    if (member && member->is_valid()) texts.emplace_back(*member);
  }
  send_to_all(texts, text, environment().time, environment().time.now() + settings_.member_timeout);
  const auto count = [&](auto says) { return static_cast<std::size_t>(std::ranges::count_if(texts, says)); };
  const auto stored = count(&member_text::is_stored);
  if (stored >= settings_.majority) return;
  const auto left = texts.size() - count(&member_text::is_gone);
  if (left < settings_.majority) throw client_layer::hold_is_over(name());
  const bool is_refused = left - count(&member_text::is_refused) < settings_.majority;
  const auto reason = std::ranges::find_if(
      texts, [&](const auto& one) { return one.failure() && one.is_refused() == is_refused; });
  throw error(
      reason->failure()->kind(),
      fmt::format("{} of the {} members of \"{}\" stored the data, and {} are needed; one of the others "
                  "failed with: {}",
                  stored, members_->all().size(), name(), settings_.majority, reason->failure()->what()),
      {}, stored > 0 || count(&member_text::is_in_doubt) > 0);
}

release_result quorum_state::release() {
  first_->engine().check_process();
  if (released_) return *released_;
  if (const auto reason = loss(); reason != rowlock::loss::none) return release_lost(reason);
  over_.store(true);
  const auto results = members_->release({});
  const auto say = [&](release_result result) {
    return static_cast<std::size_t>(std::ranges::count(results, result));
  };
  released_ = say(release_result::released) >= settings_.majority ? release_result::released
              : say(release_result::pending) > 0                  ? release_result::pending
              : say(release_result::unknown) > 0                  ? release_result::unknown
                                                                  : release_result::lost;
  return *released_;
}

// The members' own notices may come much later, and then find this object over or destroyed. So the stop token stops
// here, before the members that still stand are released and a rival gets a majority (I5); also if another thread has
// begun to tell of the loss, because that thread may not have come to the token yet. One of the user's callbacks may
// destroy this object.
release_result quorum_state::release_lost(rowlock::loss reason) {
  lose(reason);
  over_.store(true);
  released_ = release_result::lost;
  const auto members = members_;
  std::stop_source told = stop_;
  told.request_stop();
  members->release({});
  return release_result::lost;
}

}  // namespace rowlock::primitives
