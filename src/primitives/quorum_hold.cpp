#include <rowlock/error.hpp>
#include <rowlock/quorum_mutex.hpp>

#include "model/names.hpp"
#include "primitives/quorum_state.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

quorum_hold::quorum_hold() noexcept = default;
quorum_hold::quorum_hold(std::unique_ptr<primitives::quorum_state> state) noexcept
    : state_(std::move(state)) {}
quorum_hold::quorum_hold(quorum_hold&& other) noexcept = default;
quorum_hold& quorum_hold::operator=(quorum_hold&& other) noexcept = default;
quorum_hold::~quorum_hold() = default;

bool quorum_hold::valid() const noexcept {
  return state_ && state_->is_valid();
}

fencing_token quorum_hold::token() const noexcept {
  return fencing_token{state_ ? state_->token() : 0};
}

const std::string& quorum_hold::name() const noexcept {
  static const std::string nothing;
  return state_ ? state_->name() : nothing;
}

std::chrono::nanoseconds quorum_hold::remaining() const noexcept {
  return state_ ? state_->remaining() : std::chrono::nanoseconds{0};
}

std::stop_token quorum_hold::stop_token() const noexcept {
  return state_ && !state_->is_forked() ? state_->stop_token() : std::stop_token{};
}

rowlock::loss quorum_hold::loss() const noexcept {
  return state_ ? state_->loss() : rowlock::loss::none;
}

std::size_t quorum_hold::size() const noexcept {
  return state_ ? state_->holds().size() : 0;
}

const hold& quorum_hold::member_hold(std::size_t at) const {
  static const std::vector<hold> nothing;
  return (state_ ? state_->holds() : nothing).at(at);
}

void quorum_hold::set_data(const std::string& text) const {
  model::check_value(text);
  if (!state_) throw error(errc::hold_lost, "this hold is empty; only a valid hold can have data");
  state_->set_data(text);
}

release_result quorum_hold::release() {
  return state_ ? state_->release() : release_result::lost;
}

ROWLOCK_END_NAMESPACE
