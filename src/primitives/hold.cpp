#include <rowlock/error.hpp>
#include <rowlock/guard/statement.hpp>
#include <rowlock/hold.hpp>

#include "client/call/transfer.hpp"
#include "client/core/hold_state.hpp"
#include "client/engine.hpp"
#include "model/names.hpp"
#include "model/text.hpp"
#include "primitives/access.hpp"
#include "store/open.hpp"
#include "store/registry.hpp"

#include <fmt/format.h>

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

// The mode whose guard proves the hold. While a downgrade or an upgrade is in doubt, only the database knows the mode;
// a partial release changes only the weight. On SQLite one guard proves both modes, so the client does not ask the
// database, whose write lock the application may hold.
model::lock_mode guarded_mode(client_layer::hold_state& held) {
  auto& on = held.engine();
  using enum model::lock_mode;
  const bool may_have_changed = held.is_in_doubt() && held.kind() == model::lock_kind::shared_mutex;
  if (!may_have_changed || on.guard(exclusive).sql == on.guard(shared).sql) return held.mode();
  const auto stored =
      on.tasks().result_of([name = held.name()](store::admin_verbs& session) { return session.show(name); },
                           {on.environment().time.now() + on.environment().settings.statement_timeout});
  if (stored) {
    for (const auto& holder : stored->holders) {
      if (holder.hold == held.id()) return holder.mode;
    }
  }
  return held.mode();
}

}  // namespace

const char* to_string(loss reason) noexcept {
  switch (reason) {
    case loss::none: return "none";
    case loss::expired: return "expired";
    case loss::forced: return "forced";
    case loss::gone: return "gone";
    case loss::closed: return "closed";
  }
  return "unknown";
}

const char* to_string(release_result result) noexcept {
  switch (result) {
    case release_result::released: return "released";
    case release_result::lost: return "lost";
    case release_result::pending: return "pending";
    case release_result::unknown: return "unknown";
  }
  return "unknown";
}

hold::hold() noexcept = default;
hold::hold(std::shared_ptr<client_layer::hold_state> state) noexcept
    : client_(state ? state->engine().handle() : nullptr), state_(std::move(state)) {}
hold::hold(hold&& other) noexcept
    : client_(std::move(other.client_)),
      state_(std::move(other.state_)),
      is_over_(std::exchange(other.is_over_, false)),
      result_(other.result_) {}

hold& hold::operator=(hold&& other) noexcept {
  if (this == &other) return *this;
  const hold previous{std::move(*this)};
  client_ = std::move(other.client_);
  state_ = std::move(other.state_);
  is_over_ = std::exchange(other.is_over_, false);
  result_ = other.result_;
  return *this;
}

hold::~hold() {
  if (!state_ || state_->engine().is_forked()) return;
  try {
    release();
  } catch (const std::exception& failure) {
    state_->engine().environment().log(log_level::error, "releasing \"{}\": {}", state_->name(),
                                       failure.what());
  }
}

bool hold::valid() const noexcept {
  return state_ && !is_over_ && state_->is_valid();
}

fencing_token hold::token() const noexcept {
  return fencing_token{state_ ? state_->token() : 0};
}

std::int64_t hold::weight() const noexcept {
  return state_ ? state_->weight() : 0;
}

const std::string& hold::name() const noexcept {
  static const std::string nothing;
  return state_ ? state_->name() : nothing;
}

hold_id hold::id() const noexcept {
  return state_ ? state_->id() : hold_id{};
}

std::chrono::nanoseconds hold::remaining() const noexcept {
  return state_ && !is_over_ ? state_->remaining() : std::chrono::nanoseconds{0};
}

// In a forked child the next three functions must not wait for a mutex that another thread of the parent may have
// locked. So they first look whether this is a forked child.

std::stop_token hold::release_requested() const {
  if (state_) state_->engine().check_process();
  return state_ ? state_->request_token() : std::stop_token{};
}

std::optional<release_request> hold::request() const {
  if (state_) state_->engine().check_process();
  return state_ ? state_->request() : std::nullopt;
}

std::stop_token hold::stop_token() const noexcept {
  return state_ && !state_->engine().is_forked() ? state_->stop_token() : std::stop_token{};
}

rowlock::loss hold::loss() const noexcept {
  return state_ ? state_->loss() : loss::none;
}

release_result hold::release() {
  if (!state_) return release_result::lost;
  state_->engine().check_process();
  if (is_over_) return result_;
  is_over_ = true;
  // The inner holds of a recursive_mutex only count down.
  result_ = state_->leave()                ? state_->engine().releaser().release(*state_)
            : state_->loss() == loss::none ? release_result::released
                                           : release_result::lost;
  return result_;
}

std::string hold::transfer(time_span ttl) {
  return transfer(ttl, {});
}

std::string hold::transfer(time_span ttl, const std::function<std::string(const std::string& text)>& data) {
  if (!state_ || is_over_)
    throw error(errc::hold_lost, "this hold is empty or over; only a valid hold can be transferred");
  auto text = client_layer::transfer(state_, ttl, data);
  is_over_ = true;
  result_ = release_result::released;
  return text;
}

std::string hold::receipt() const {
  if (!state_) return {};
  return client_layer::receipt(state_);
}

void hold::set_data(const std::string& text) const {
  model::check_value(text);
  if (state_) state_->engine().check_process();
  if (!valid()) throw client_layer::hold_is_over(name());
  const auto settled = state_->engine().tasks().decide(
      name(), state_->id(),
      [id = state_->id(), text](const auto& view) { return client_layer::decide_set_data(view, id, text); });
  if (settled.result == client_layer::outcome::what::absent) throw client_layer::hold_is_over(name());
}

guard_statement hold::guard_statement() const {
  if (!valid()) {
    throw error(errc::hold_lost, state_
                                     ? "the hold of \"" + state_->name() + "\" is over (" +
                                           to_string(state_->loss()) + "); a guarded write needs a valid hold"
                                     : std::string{"this hold is empty; a guarded write needs a valid hold"});
  }
  const auto& guard = state_->engine().guard(guarded_mode(*state_));
  return {guard.sql, {state_->name(), state_->id().to_string()}, guard.write};
}

namespace {

void check_guarded(const std::string& name, hold_id hold) {
  model::check_name(name);
  if (hold.is_nil()) {
    throw error(errc::invalid_argument, "an id of zeros is that of a lock that rests, not of a hold");
  }
}

}  // namespace

guard_statement guard_statement_for(const client& db, const std::string& name, hold_id hold, bool is_shared) {
  check_guarded(name, hold);
  const auto& guard = primitives::access::engine(db)->guard(is_shared ? model::lock_mode::shared
                                                                      : model::lock_mode::exclusive);
  return {guard.sql, {name, hold.to_string()}, guard.write};
}

guard_statement guard_statement_for(const std::string& database, const guard_target& target) {
  check_guarded(target.name, target.hold);
  model::check_identifier("prefix", target.prefix);
  if (!target.schema.empty()) model::check_identifier("schema", target.schema);
  const bool is_url = database.find(':') != std::string::npos;
  const auto* found =
      store::find_store(is_url ? store::dialect_of(database) : store::dialect_named(database));
  if (!found) {
    throw error(errc::invalid_argument,
                fmt::format("the store of {} is not linked into this program, only {}", database,
                            store::linked_dialects_text()));
  }
  const auto mode = target.is_shared ? model::lock_mode::shared : model::lock_mode::exclusive;
  auto texts = found->guard({.prefix = target.prefix, .schema = target.schema}, mode, target.is_clustered);
  return {std::move(texts.sql), {target.name, target.hold.to_string()}, std::move(texts.write)};
}

namespace detail {

void throw_guard_lost(const hold& held) {
  throw error(errc::hold_lost, "\"" + held.name() +
                                   "\" is no longer held, or this transaction's snapshot is older than the "
                                   "hold; roll back");
}

// MySQL's placeholder is ?, PostgreSQL's $1 and $2.
std::string with_literals(const std::string& sql, const std::vector<std::string>& parameters) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const bool is_numbered = sql[i] == '$' && i + 1 < sql.size() && (sql[i + 1] == '1' || sql[i + 1] == '2');
    if (is_numbered) {
      const auto parameter = static_cast<std::size_t>(sql[++i] - '1');
      text += "convert_from(decode('";
      model::append_hex(text, parameters[parameter]);
      text += "', 'hex'), 'UTF8')";
    } else if (sql[i] == '?') {
      text += "x'";
      model::append_hex(text, parameters[next++]);
      text += '\'';
    } else {
      text += sql[i];
    }
  }
  return text;
}

}  // namespace detail

ROWLOCK_END_NAMESPACE
