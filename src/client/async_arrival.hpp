// An arrival at a barrier that no thread waits for.
#pragma once

#include "client/arrive.hpp"
#include "client/async_request.hpp"
#include "model/annotated_mutex.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::client_layer {

// Thread-safe. When its time is up or it is stopped, it leaves, and still waits for what the database says: for
// as long as a call may take. An abandoned one leaves as well.
class async_arrival final : public async_request {
 public:
  using continuation = std::function<void(async_arrival&)>;

  async_arrival(std::shared_ptr<engine> on, model::lock_definition barrier, const wait_limit& how_long,
                std::stop_token stop, executor where, continuation then);

  // Call it once, in the continuation: returns or throws what arrive() does.
  std::optional<model::token> take();

 private:
  std::optional<instant> prepare() override;
  promise_state& answer() override { return member_->answer(); }
  void submit() override { member_->submit(); }
  bool leave() noexcept override;
  bool detach() noexcept override { return member_->detach(); }
  void drop_answer() override {}  // a member holds nothing
  std::string described() const override;

  const model::lock_definition barrier_;
  const wait_limit how_long_;
  std::optional<arrival> member_;
  model::annotated_mutex mutex_;
  // It has left, and waits for the answer until then.
  std::optional<instant> leaves_until_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
