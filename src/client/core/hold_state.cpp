#include "client/core/hold_state.hpp"

#include "client/core/operation.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// A source that has stopped already. It is never destroyed, because holds may outlive static objects.
const std::stop_source& stopped_source() {
  static const auto* const source = [] {
    auto* made = new std::stop_source;
    made->request_stop();
    return made;
  }();
  return *source;
}

}  // namespace

hold_state::hold_state(std::shared_ptr<client_layer::engine> engine, const time_source& time,
                       model::lock_definition lock, model::hold_id id, model::token token,
                       std::shared_ptr<client_layer::lease> lease, model::lock_mode mode, std::int64_t weight,
                       std::shared_ptr<release_operation> ending)
    : engine_(std::move(engine)),
      time_(time),
      lock_(std::move(lock)),
      id_(id),
      token_(token),
      mode_(mode),
      weight_(weight),
      lease_(std::move(lease)),
      ending_(ending ? std::move(ending) : ending_of(lock_.name)) {
  ending_->answer = std::make_shared<promised<release_result>>();
  stopped_source();  // made here, because stop_token() must not fail
}

hold_state::~hold_state() = default;

bool hold_state::is_valid() const noexcept {
  return fate_.load() == held && lease_->is_valid(time_.now());
}

std::chrono::nanoseconds hold_state::remaining() const noexcept {
  if (fate_.load() != held) return std::chrono::nanoseconds{0};
  return std::max(lease_->deadline() - time_.now(), std::chrono::nanoseconds{0});
}

rowlock::loss hold_state::loss() const noexcept {
  const int fate = fate_.load();
  if (fate == released) return loss::none;
  if (fate != held) return static_cast<rowlock::loss>(fate);
  // The watchdog may not have noticed yet, but a hold past its deadline must never be reported as valid.
  return lease_->is_valid(time_.now()) ? loss::none : loss::expired;
}

bool hold_state::request_release(const std::string& reason, instant until) {
  const model::annotated_lock lock{stop_mutex_};
  if (fate_.load() != held) return false;
  const bool is_first = !request_;
  request_ = asked_for{reason, until};
  return is_first;
}

void hold_state::notify_request() noexcept {
  model::annotated_lock lock{stop_mutex_};
  const auto whom = asked_;
  lock.unlock();
  if (whom) whom->request_stop();
}

std::stop_token hold_state::request_token() {
  const model::annotated_lock lock{stop_mutex_};
  if (request_) return stopped_token();
  if (!asked_) asked_.emplace();
  return asked_->get_token();
}

std::optional<rowlock::release_request> hold_state::request() const {
  const model::annotated_lock lock{stop_mutex_};
  if (!request_) return {};
  const auto left = request_->until - time_.now();
  return rowlock::release_request{request_->reason, std::max(left, std::chrono::nanoseconds{0})};
}

std::stop_token hold_state::stop_token() const noexcept {
  return loss() == loss::none ? stop_.get_token() : stopped_token();
}

std::stop_token hold_state::stopped_token() noexcept {
  return stopped_source().get_token();
}

bool hold_state::lose(rowlock::loss reason) noexcept {
  int expected = held;
  return fate_.compare_exchange_strong(expected, static_cast<int>(reason));
}

void hold_state::deliver() noexcept {
  stop_.request_stop();
}

std::shared_ptr<release_operation> hold_state::take_ending() noexcept {
  auto ending = std::move(ending_);
  ending->kind = lock_.kind;
  ending->mode = mode();
  ending->fair = lock_.fair;
  ending->hold = id_;
  ending->lease = lease_;
  ending->keep_until = keep_until();
  if (is_released()) ending->ends = grant();
  return ending;
}

hold_event hold_state::event(hold_event::kind what) const {
  hold_event made;
  made.what = what;
  made.name = name();
  made.id = id();
  made.token = fencing_token{token()};
  made.mode = mode();
  return made;
}

bool hold_state::begin_release() noexcept {
  int expected = held;
  return lease_->is_valid(time_.now()) && fate_.compare_exchange_strong(expected, released);
}

void hold_state::set_mode(model::lock_mode mode, std::int64_t weight, model::token token) noexcept {
  mode_.store(mode);
  weight_.store(weight);
  token_.store(token);
  in_doubt_.store(false);
}

void hold_state::become_in_doubt(model::lock_mode mode, std::int64_t weight) noexcept {
  in_doubt_.store(true);
  mode_.store(mode);
  weight_.store(weight);
}

bool hold_state::enter() noexcept {
  int entries = entries_.load();
  while (entries > 0) {
    if (entries_.compare_exchange_weak(entries, entries + 1)) return true;
  }
  return false;
}

bool hold_state::leave_last() noexcept {
  int last = 1;
  return entries_.compare_exchange_strong(last, 0);
}

}  // namespace rowlock::client_layer
