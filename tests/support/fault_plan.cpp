#include "support/fault_plan.hpp"

#include <rowlock/error.hpp>

namespace rowlock::test {

using store::memory_call;

std::shared_ptr<fault_plan> fault_plan::of(std::shared_ptr<store::memory_server> server) {
  const std::shared_ptr<fault_plan> plan{new fault_plan{std::move(server)}};
  plan->server_->on_call([plan](memory_call& call) { plan->on_call(call); });
  return plan;
}

void fault_plan::detach() {
  forget();
  cut(false);
  server_->on_call({});
  server_->unblock();
}

void fault_plan::plan(const std::string& verb, kind what, int times, int skip) {
  const std::lock_guard lock{mutex_};
  auto& planned = planned_[{verb, what}];
  planned.times += times;
  planned.skip += skip;
  planned.from = begun_ + 1;
}

void fault_plan::forget() {
  const std::lock_guard lock{mutex_};
  planned_.clear();
}

int fault_plan::count(const std::string& verb) const {
  const std::lock_guard lock{mutex_};
  const auto found = counts_.find(verb);
  return found == counts_.end() ? 0 : found->second;
}

bool fault_plan::due(const memory_call& call, kind what) {
  const std::lock_guard lock{mutex_};
  const auto found = planned_.find({std::string{call.verb}, what});
  if (found == planned_.end() || found->second.times == 0 || call.number < found->second.from) return false;
  if (found->second.skip > 0) {
    --found->second.skip;
    return false;
  }
  --found->second.times;
  return true;
}

void fault_plan::on_call(memory_call& call) {
  if (moments_left_.fetch_sub(1) <= 0) cut(true);
  if (call.at == memory_call::phase::before) {
    {
      const std::lock_guard lock{mutex_};
      ++counts_[std::string{call.verb}];
      call.number = ++begun_;
    }
    if (cut_.load()) store::throw_unreachable(false);
    if (due(call, kind::lose_request)) store::throw_unreachable();
    if (due(call, kind::refuse)) throw error(errc::contention, "refused by the test");
    if (due(call, kind::deny)) throw error(errc::privilege, "denied by the test");
    if (due(call, kind::read_only)) throw error(errc::read_only, "made read-only by the test");
    if (due(call, kind::unreachable)) throw error(errc::unreachable, "too many clients, says the test");
    if (due(call, kind::ghost)) call.leave_ghost();
    if (due(call, kind::hang)) call.block();
  } else {
    if (cut_.load()) store::throw_unreachable();
    if (due(call, kind::lose_answer)) store::throw_unreachable();
    if (due(call, kind::hang_answer)) call.block();
  }
}

}  // namespace rowlock::test
