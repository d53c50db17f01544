#include "client/call/force_release.hpp"

#include <memory>
#include <optional>

namespace rowlock::client_layer {

namespace {

release_result submit_and_wait(engine& on, const release_ptr& operation, instant until) {
  operation->answer = std::make_shared<promised<release_result>>();
  const auto answer = operation->answer;
  on.services().queue.submit(operation);
  return on.releaser().await(answer, until);
}

}  // namespace

release_result force_release(engine& on, const std::string& name, std::chrono::nanoseconds limit,
                             model::hold_id only, std::optional<model::token> upto) {
  on.begin_work();
  const auto until = on.environment().time.now() + limit;
  auto operation = std::make_shared<release_operation>();
  operation->name = name;
  operation->hold = only;
  operation->purpose = release_operation::aim::force;
  if (upto) {
    operation->upto = *upto;
    operation->spares_rests = true;
  } else if (only.is_nil()) {
    const auto seen = std::make_shared<std::optional<store::lock_info>>();
    const auto look =
        on.tasks().begin([seen, name](store::admin_verbs& session) { *seen = session.show(name); });
    if (!on.tasks().await(look, until)) return release_result::unknown;
    if (!*seen) return release_result::lost;
    operation->upto = (*seen)->row.token;
  }
  return submit_and_wait(on, operation, until);
}

release_result sweep_lock(engine& on, const std::string& name, std::chrono::nanoseconds limit) {
  on.begin_work();
  return submit_and_wait(on, sweep_of(name), on.environment().time.now() + limit);
}

}  // namespace rowlock::client_layer
