#include "client/base/ghosts.hpp"

#include <utility>

namespace rowlock::client_layer {

void ghosts::add(ghost one) {
  const model::annotated_lock lock{mutex_};
  all_.push_back(std::move(one));
  count_.store(all_.size());
}

void ghosts::remove(const ghost& one) {
  const model::annotated_lock lock{mutex_};
  std::erase_if(all_, [&](const ghost& other) {
    return other.backend == one.backend && other.broke_at == one.broke_at;
  });
  count_.store(all_.size());
}

void ghosts::forget(const ghost& one) {
  remove(one);
  if (on_forgotten) on_forgotten();
}

std::vector<ghost> ghosts::all() const {
  const model::annotated_lock lock{mutex_};
  return all_;
}

}  // namespace rowlock::client_layer
