#include "simulator/quorum_oracle.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::simulator {

namespace {

constexpr std::size_t majority = quorum_members / 2 + 1;

std::size_t valid_members(const quorum_hold& held) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < held.size(); ++i) count += held.member_hold(i).valid() ? 1 : 0;
  return count;
}

}  // namespace

quorum_oracle::quorum_oracle(const story& plan, scheduler& runs, recorder& records,
                             std::vector<oracle*> members)
    : plan_(plan), runs_(runs), records_(records), members_(std::move(members)) {}

quorum_oracle::attempt quorum_oracle::begin_call() {
  ++calls_;
  return {runs_.now(), ++begun_, calls_ == 1 && holds_.empty() && runs_.now() > busy_at_ + 2 * second};
}

void quorum_oracle::end_call(const attempt& call, bool granted) {
  --calls_;
  records_.count(granted ? quorum_event::granted : quorum_event::not_granted);
  const bool alone = call.alone && call.number == begun_ && busy_at_ < call.began;
  busy_at_ = runs_.now();
  if (alone && !granted && plan_.how == severity::calm)
    fail("I10", "nothing is wrong, nobody else wants the lock, and a majority does not grant it");
}

bool quorum_oracle::was_still(const process& home) const {
  return home.stalled_until + 100 * millisecond > runs_.now();
}

bool quorum_oracle::is_valid(const live_hold& one) const {
  runs_.read_clock_of(one.home);
  const bool valid = one.hold->valid();
  runs_.read_clock_of(nullptr);
  return valid;
}

const quorum_oracle::live_hold& quorum_oracle::known(const quorum_hold& held) const {
  return *std::ranges::find(holds_, &held, &live_hold::hold);
}

// Remembers until when, by its user's clock, nobody else may be granted the lock.
void quorum_oracle::promise(live_hold& one) const {
  runs_.read_clock_of(one.home);
  const nanoseconds remaining = one.hold->remaining().count();
  runs_.read_clock_of(nullptr);
  const auto& clock = one.home->clock;
  one.promised_until = std::max(one.promised_until, clock.true_time(clock.reading(runs_.now()) + remaining));
}

void quorum_oracle::check_promise(const live_hold& one, const live_hold& next) {
  if (one.promised_until <= runs_.now() || may_be_forced(one)) return;
  fail("I5", fmt::format("client {} was promised the lock for {} ms more, and client {} has it", one.home->id,
                         (one.promised_until - runs_.now()) / millisecond, next.home->id));
}

void quorum_oracle::delivered(const quorum_hold& got, const std::vector<std::size_t>& servers,
                              const attempt& call) {
  const uninterrupted now;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got.member_hold(i).token() != fencing_token{})
      members_[servers[i]]->check_granted(got.member_hold(i));
  }
  live_hold made{&got, servers, &runs_.home(), got.stop_token(), call.began, 0};
  const bool valid = is_valid(made);
  const bool forced = may_be_forced(made);
  if (is_safe() && valid && !forced) {
    for (const auto& one : holds_) {
      if (one.home->dead || may_be_forced(one)) continue;
      if (is_valid(one))
        fail("I1", fmt::format("clients {} and {} have the lock of a majority", one.home->id, made.home->id));
      check_promise(one, made);
      if (!one.told.stop_requested() && !was_still(*one.home))
        fail("I5", fmt::format("client {} has the lock of a majority, and the stop token of client {}'s hold "
                               "has not stopped",
                               made.home->id, one.home->id));
    }
    for (const auto& one : lost_) check_promise(one, made);
    if (got.token().value() <= highest_)
      fail("I2",
           fmt::format("a majority gave token {}, and an earlier one {}", got.token().value(), highest_));
  }
  if (valid) highest_ = std::max(highest_, got.token().value());
  holds_.push_back(made);
  promise(holds_.back());
}

void quorum_oracle::seen(const quorum_hold& held) {
  const uninterrupted now;
  auto& one = *std::ranges::find(holds_, &held, &live_hold::hold);
  promise(one);
  if (held.valid() && valid_members(held) < majority)
    fail("I5",
         fmt::format("a hold says that it is valid, and only {} of its members are", valid_members(held)));
}

bool quorum_oracle::is_told(const quorum_hold& was) const {
  return known(was).told.stop_requested();
}

void quorum_oracle::lost(const quorum_hold& was) {
  const uninterrupted now;
  records_.count(quorum_event::lost);
  if (is_told(was) || was_still(runs_.home())) return;
  fail("I5", fmt::format("a hold is lost ({}), and its stop token has not stopped", to_string(was.loss())));
}

void quorum_oracle::given_up(const quorum_hold& was) {
  const uninterrupted now;
  const auto found = std::ranges::find(holds_, &was, &live_hold::hold);
  if (!was.valid()) lost_.push_back(*found);
  holds_.erase(found);
}

std::size_t quorum_oracle::standing(const live_hold& one) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.hold->size(); ++i) {
    const auto& member = one.hold->member_hold(i);
    if (member.token() != fencing_token{} && members_[one.servers[i]]->stands(member)) ++count;
  }
  return count;
}

std::size_t quorum_oracle::standing(const quorum_hold& held) const {
  const uninterrupted now;
  return standing(known(held));
}

void quorum_oracle::text_stored(const quorum_hold& held, const std::string& text) {
  const uninterrupted now;
  const auto& one = known(held);
  std::size_t stored = 0;
  std::size_t gone = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto& member = held.member_hold(i);
    if (member.token() == fencing_token{}) continue;
    if (members_[one.servers[i]]->has_text(member, text)) {
      ++stored;
    } else if (!members_[one.servers[i]]->stands(member)) {
      ++gone;  // since then
    }
  }
  if (is_safe() && stored + gone < majority)
    fail("text", fmt::format("set_data has succeeded, and only {} members have the text", stored));
}

void quorum_oracle::released(const quorum_hold& was, std::size_t stood, release_result how) {
  const uninterrupted now;
  busy_at_ = runs_.now();
  records_.event("release returns", [&] { return std::string{to_string(how)}; });
  if (is_safe() && how == release_result::released && stood < majority)
    fail("release", fmt::format("a hold with token {} was released, and only {} members had it",
                                was.token().value(), stood));
}

void quorum_oracle::force_begins() {
  ++forces_;
  busy_at_ = runs_.now();
}

void quorum_oracle::force_ends(bool in_doubt) {
  if (!in_doubt) --forces_;
  forced_at_ = busy_at_ = runs_.now();
}

void quorum_oracle::check_holds_at_rest() {
  const uninterrupted now;
  for (const auto& one : holds_) {
    if (one.home->dead) continue;
    const auto stood = standing(one);
    if (is_valid(one)) {
      if (stood < majority)
        fail("I6", fmt::format("client {} has a hold that only {} members have, and was not told so",
                               one.home->id, stood));
      continue;
    }
    if (!one.told.stop_requested())
      fail("I5",
           fmt::format("a hold of client {} is lost, and its stop token has not stopped", one.home->id));
    if (stood > 0)
      fail("I6",
           fmt::format("a hold of client {} is lost, and {} members still have it", one.home->id, stood));
  }
}

}  // namespace rowlock::simulator
