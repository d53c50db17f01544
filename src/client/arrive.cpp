#include "client/arrive.hpp"

#include <memory>
#include <utility>

namespace rowlock::client_layer {

namespace {

std::optional<model::token> gave_up(const wait_limit& how_long) {
  if (!how_long.limit) throw error(errc::cancelled, "the wait at a barrier was stopped");
  return {};
}

}  // namespace

std::optional<model::token> arrive(engine& on, const model::lock_definition& barrier,
                                   const wait_limit& how_long, const std::stop_token& stop) {
  on.check_usable();
  if (stop.stop_requested()) return gave_up(how_long);
  on.start_keeper();
  auto& time = on.shared().time;
  const model::lock_request request{barrier, model::lock_mode::shared};
  const auto operation = std::make_shared<acquire_operation>(request, true);
  std::optional<instant> until;
  if (how_long.limit) until = later(time.now(), *how_long.limit);
  on.parts().queue.submit(operation);
  if (const auto answer = operation->answer.wait_a_while(time, until, stop)) return (*answer)->token();
  // The other members may have continued with this one meanwhile. Only the database knows.
  operation->answer.leave();
  if (auto waiting = on.waiters().take(*operation)) on.parts().queue.submit(std::move(waiting));
  if (const auto answer = operation->answer.wait(time, time.now() + on.shared().longest_call())) {
    return *answer ? (*answer)->token() : gave_up(how_long);
  }
  if (const auto waiting = on.waiters().take(*operation)) on.parts().complete.withdraw(*waiting);
  throw error(errc::unreachable,
              "the wait at \"" + barrier.name +
                  "\" has ended, but the database did not answer: whether all had arrived is unknown",
              {}, true);
}

}  // namespace rowlock::client_layer
