#include "client/base/recorded_names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rowlock::client_layer {

namespace {

constexpr std::size_t names_at_most = 1000;

}  // namespace

void recorded_names::use(std::int64_t version, std::vector<store::recording> recordings) {
  const model::annotated_lock lock{mutex_};
  recordings_ = std::move(recordings);
  empty_.store(recordings_.empty(), std::memory_order_relaxed);
  version_.store(version, std::memory_order_relaxed);
}

bool recorded_names::fits_a_pattern(std::string_view name) const {
  const model::annotated_lock lock{mutex_};
  for (const auto& one : recordings_) {
    if (store::is_recorded(name, one.pattern)) return true;
  }
  return false;
}

std::optional<store::recording> recorded_names::find(std::string_view name) const {
  const model::annotated_lock lock{mutex_};
  return store::recording_of(name, recordings_);
}

void recorded_names::note_written(const std::string& name) {
  const model::annotated_lock lock{mutex_};
  if (written_.size() < names_at_most) written_.insert(name);
}

bool recorded_names::has_written() const {
  const model::annotated_lock lock{mutex_};
  return !written_.empty();
}

std::vector<std::string> recorded_names::take_written() {
  const model::annotated_lock lock{mutex_};
  const auto taken = std::exchange(written_, {});
  return {taken.begin(), taken.end()};
}

}  // namespace rowlock::client_layer
