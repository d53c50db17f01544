#include "client/async_acquire.hpp"

#include "client/errors.hpp"

#include <utility>

namespace rowlock::client_layer {

async_acquire::async_acquire(std::shared_ptr<engine> on, model::lock_request request,
                             const wait_limit& how_long, acquire_options how, executor where,
                             continuation then)
    : async_request(
          std::move(on), how.stop, std::move(where),
          [then = std::move(then)](async_request& over) { then(static_cast<async_acquire&>(over)); }),
      request_(std::move(request)),
      how_long_(how_long),
      how_(std::move(how)) {}

std::optional<instant> async_acquire::prepare() {
  check_without_thread(how_);
  auto asked = engine_->prepare(request_, how_long_, how_);
  operation_ = std::move(asked.operation);
  return asked.until;
}

hold_ptr async_acquire::take() {
  if (auto answer = operation_->answer.take()) return std::move(*answer);
  return engine_->result_without_answer(*operation_, how_long_, stop_);
}

bool async_acquire::leave() noexcept {
  if (!operation_->answer.give_up()) return false;
  engine_->abandon(*operation_);
  return true;
}

void async_acquire::drop_answer() {
  if (const auto granted = operation_->answer.take(); granted && *granted) {
    engine_->releaser().begin(**granted);
  }
}

void async_acquire::before_told() noexcept {
  if (operation_->ttl) engine_->check_deadlines();
}

std::string async_acquire::described() const {
  return "the acquire of \"" + request_.definition.name + "\"";
}

}  // namespace rowlock::client_layer
