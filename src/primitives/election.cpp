#include <rowlock/election.hpp>
#include <rowlock/error.hpp>

#include "client/decision/hold_data.hpp"
#include "primitives/standard_lock.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace rowlock::primitives {

namespace {

// Where wake-ups arrive, an observer polls only in case a wake-up was lost or the leader vanished without a successor.
// Some databases send a wake-up for every change of any lock, so the pause limits how often an observer reads.
constexpr int rounds_when_told = 5;
constexpr auto between_looks = 10ms;

leadership leadership_of(const std::optional<store::lock_info>& stored) {
  leadership known;
  if (!stored) return known;
  known.token = fencing_token{stored->row.token};
  if (stored->holders.empty() || stored->holders.front().expires_in <= 0ms) return known;
  const auto& leader = stored->holders.front();
  if (leader.hold.is_nil()) return known;  // the office is resting
  known.led = true;
  known.value = client_layer::data_of(leader);
  known.host = leader.lease.host;
  known.pid = leader.lease.pid;
  known.application = leader.lease.application;
  return known;
}

}  // namespace

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

void term::proclaim(const std::string& value) {
  office_.set_data(value);
}

election::election(client db, std::string name, const lock_options& lock)
    : office_(std::make_unique<primitives::named_lock>(
          std::move(db), primitives::defined(std::move(name), model::lock_kind::election, 1, lock))) {}

election::election(election&& other) noexcept = default;
election& election::operator=(election&& other) noexcept = default;
election::~election() = default;

const std::string& election::name() const noexcept {
  return office_->name();
}

term election::campaign(const acquire_options& how) {
  return term{office_->acquire(office_->exclusive(), {.waits = true}, how)};
}

term election::try_campaign(const acquire_options& how) {
  return term{office_->acquire(office_->exclusive(), {.waits = false}, how)};
}

term election::try_campaign_for(time_limit timeout, const acquire_options& how) {
  return term{office_->acquire(office_->exclusive(), primitives::wait_limit_of(timeout), how)};
}

leadership election::observe() const {
  return primitives::leadership_of(office_->stored());
}

std::vector<participant> election::candidates() const {
  return office_->participants();
}

leadership election::wait_for(time_limit timeout, const leadership& seen, std::stop_token stop) const {
  auto& engine = office_->engine();
  auto& shared = engine.environment();
  const auto until = client_layer::later(shared.time.now(), timeout.length());
  const auto last_answer =
      client_layer::later(std::max(until, shared.time.now()), shared.settings.statement_timeout);
  engine.check_usable();
  engine.start_keeper();
  engine.keeper().watch_offices();
  auto& changes = engine.keeper().office_signal();
  for (;;) {
    const auto issue = changes.version();
    const auto now = shared.time.now();
    try {
      auto known = primitives::leadership_of(office_->stored({last_answer, stop}));
      // A row that exists but was never granted has a token, too.
      const bool still_nobody = !known.led && seen == leadership{};
      if (known != seen && !still_nobody) return known;
    } catch (const error& failure) {
      if (stop.stop_requested()) return seen;
      if (!failure.transient() || now >= until) throw;
    }
    if (now >= until || stop.stop_requested()) return seen;
    const int rounds = engine.keeper().watches_offices() ? primitives::rounds_when_told : 1;
    if (changes.wait(shared.time, issue, std::min(until, now + rounds * shared.settings.poll_interval),
                     stop)) {
      engine.sleep(std::min<std::chrono::nanoseconds>(primitives::between_looks, until - shared.time.now()),
                   stop);
    }
  }
}

ROWLOCK_END_NAMESPACE
