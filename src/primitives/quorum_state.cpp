#include "primitives/quorum_state.hpp"

#include "primitives/access.hpp"

#include <algorithm>

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

std::vector<release_result> release_everywhere(
    std::span<const hold_ptr> members,
    const std::function<client_layer::instant(client_layer::engine&)>& until) {
  struct asked {
    client_layer::engine* engine;
    std::shared_ptr<client_layer::promised<release_result>> answer;
    client_layer::instant until;
  };
  std::vector<asked> answers;
  for (const auto& member : members) {
    if (!member) continue;
    auto& engine = member->engine();
    answers.push_back({&engine, engine.releaser().begin(*member), until(engine)});
  }
  std::vector<release_result> results(members.size() - answers.size(), release_result::lost);
  for (const auto& [engine, answer, last] : answers) {
    results.push_back(answer ? engine->releaser().await(answer, last) : release_result::lost);
  }
  return results;
}

quorum_state::quorum_state(std::vector<hold_ptr> members, std::size_t majority, nanoseconds drift,
                           model::token token)
    : members_(std::move(members)), majority_(majority), drift_(drift), token_(token) {
  for (const auto& member : members_) holds_.push_back(access::make<hold>(member));
  first_ =
      std::find_if(members_.begin(), members_.end(), [](const auto& one) { return one != nullptr; })->get();
  name_ = &first_->name();
  // If the member is lost already, its callback runs here at once.
  for (const auto& member : members_) {
    if (!member) continue;
    watches_.push_back(std::make_unique<watch>(member->stop_token(),
                                               [this, raw = member.get()] { member_was_lost(raw->loss()); }));
  }
}

quorum_state::~quorum_state() {
  if (is_forked()) return;
  try {
    release();
  } catch (const std::exception& failure) {
    shared().log(log_level::error, "releasing \"{}\" on its members: {}", name(), failure.what());
  }
}

std::size_t quorum_state::standing() const noexcept {
  return static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(), [](const auto& one) {
    return one && one->loss() == rowlock::loss::none;
  }));
}

// Runs the user's callbacks, one of which may destroy this object. Then releases the members' other holds, so
// that others can get a majority while this object exists.
void quorum_state::member_was_lost(rowlock::loss reason) noexcept {
  if (over_.load() || standing() >= majority_) return;
  auto none = rowlock::loss::none;
  if (!loss_.compare_exchange_strong(none, reason)) return;
  const auto members = members_;
  std::stop_source told = stop_;
  told.request_stop();
  for (const auto& member : members) {
    if (!member) continue;
    try {
      member->engine().releaser().begin(*member);
    } catch (const std::exception& failure) {
      member->engine().shared().log(log_level::error, "releasing \"{}\" on a member: {}", member->name(),
                                    failure.what());
    }
  }
}

rowlock::loss quorum_state::loss() const noexcept {
  if (const auto told = loss_.load(); told != rowlock::loss::none || over_.load()) return told;
  if (standing() >= majority_) return rowlock::loss::none;
  // The watchdogs may not have noticed the loss yet, but the hold must not count as valid.
  for (const auto& member : members_) {
    if (member && member->loss() != rowlock::loss::none) return member->loss();
  }
  return rowlock::loss::none;
}

bool quorum_state::is_valid() const noexcept {
  return !over_.load() && loss() == rowlock::loss::none;
}

nanoseconds quorum_state::remaining() const noexcept {
  if (!is_valid()) return nanoseconds{0};
  return std::max(remaining_of_majority(members_, majority_) - drift_, nanoseconds{0});
}

bool quorum_state::is_forked() const noexcept {
  return first_->engine().is_forked();
}

release_result quorum_state::release() {
  if (is_forked()) first_->engine().check_usable();
  if (released_) return *released_;
  const bool stood = is_valid();
  if (const auto lost = loss(); !stood) loss_.store(lost);
  over_.store(true);
  const auto results = release_everywhere(members_, [](client_layer::engine& engine) {
    return engine.shared().time.now() + engine.shared().settings.close_timeout;
  });
  const auto say = [&](release_result result) {
    return static_cast<std::size_t>(std::count(results.begin(), results.end(), result));
  };
  released_ = !stood                                       ? release_result::lost
              : say(release_result::released) >= majority_ ? release_result::released
              : say(release_result::pending) > 0           ? release_result::pending
              : say(release_result::unknown) > 0           ? release_result::unknown
                                                           : release_result::lost;
  return *released_;
}

}  // namespace rowlock::primitives
