#include <rowlock/acquire_all.hpp>
#include <rowlock/error.hpp>

#include "client/joint_acquire.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::joint_request;
using client_layer::wait_limit;

error refused(const std::string& why) {
  return {errc::invalid_argument, why};
}

// Holds in the order of `locks`; empty: not granted.
std::optional<hold_set> take(const std::vector<wanted>& locks, const wait_limit& how_long,
                             std::stop_token stop) {
  if (locks.empty()) throw refused("no lock is named; several of them take at least one");
  std::vector<std::size_t> by_name(locks.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  const auto name_of = [&](std::size_t i) -> const std::string& { return locks[i].lock().definition.name; };
  std::sort(by_name.begin(), by_name.end(), [&](auto a, auto b) { return name_of(a) < name_of(b); });
  const auto twice = std::adjacent_find(by_name.begin(), by_name.end(),
                                        [&](auto a, auto b) { return name_of(a) == name_of(b); });
  if (twice != by_name.end()) {
    throw refused("\"" + name_of(*twice) + "\" is named twice, and would wait for itself");
  }
  auto& engine = *locks.front().db().engine();
  std::vector<joint_request> sorted;
  for (const auto i : by_name) {
    if (locks[i].db().engine().get() != &engine) {
      throw refused("the locks belong to more than one client; one transaction takes those of one");
    }
    sorted.push_back(locks[i].lock());
  }
  auto granted = client_layer::joint_acquire{engine, std::move(sorted), how_long, std::move(stop)}.run();
  if (granted.empty()) return {};
  std::vector<hold> holds(locks.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) holds[by_name[i]] = hold{std::move(granted[i])};
  return hold_set{std::move(holds)};
}

}  // namespace

wanted::wanted(client db, client_layer::joint_request lock)
    : db_(std::move(db)), lock_(std::make_shared<const joint_request>(std::move(lock))) {}

hold_set acquire_all(const std::vector<wanted>& locks, std::stop_token stop) {
  return take(locks, {.waits = true}, std::move(stop)).value();
}

std::optional<hold_set> try_acquire_all(const std::vector<wanted>& locks) {
  return take(locks, {.waits = false}, {});
}

std::optional<hold_set> try_acquire_all_for(time_limit timeout, const std::vector<wanted>& locks,
                                            std::stop_token stop) {
  if (timeout.length() <= std::chrono::nanoseconds{0}) return try_acquire_all(locks);
  return take(locks, {.waits = true, .limit = timeout.length()}, std::move(stop));
}

hold_set::hold_set() noexcept = default;
hold_set::hold_set(std::vector<hold> holds) noexcept : holds_(std::move(holds)) {}
hold_set::hold_set(hold_set&& other) noexcept = default;

hold_set& hold_set::operator=(hold_set&& other) noexcept {
  if (this == &other) return *this;
  const hold_set previous{std::move(*this)};
  holds_ = std::move(other.holds_);
  return *this;
}

hold_set::~hold_set() {
  const auto first =
      std::find_if(holds_.begin(), holds_.end(), [](const hold& one) { return one.state() != nullptr; });
  if (first == holds_.end() || first->state()->engine().is_forked()) return;
  try {
    release();
  } catch (const std::exception& failure) {
    first->state()->engine().shared().log(log_level::error, "releasing several locks: {}", failure.what());
  }
}

bool hold_set::valid() const noexcept {
  return !holds_.empty() &&
         std::all_of(holds_.begin(), holds_.end(), [](const hold& one) { return one.valid(); });
}

std::vector<release_result> hold_set::release() {
  std::vector<client_layer::hold_ptr> states;
  for (const auto& one : holds_) {
    if (one.state()) states.push_back(one.state());
  }
  if (states.empty()) return std::vector(holds_.size(), release_result::lost);
  auto& engine = states.front()->engine();
  if (engine.is_forked()) engine.check_usable();
  const auto results = engine.release(states);
  std::vector<release_result> all;
  auto next = results.begin();
  for (const auto& one : holds_) all.push_back(one.state() ? *next++ : release_result::lost);
  return all;
}

ROWLOCK_END_NAMESPACE
