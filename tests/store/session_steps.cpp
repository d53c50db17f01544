#include "store/session_steps.hpp"

#include <stdexcept>

namespace rowlock::test {

store::acquire_item permits_of_five(const std::string& name, lease_id lease, std::int64_t weight) {
  return {.name = name,
          .kind = model::lock_kind::semaphore,
          .capacity = 5,
          .lease = lease,
          .hold = hold_id::random(),
          .mode = model::lock_mode::shared,
          .weight = weight};
}

lease_id new_lease(store::session& session, std::chrono::milliseconds ttl) {
  store::lease_record lease;
  lease.id = lease.client = lease_id::random();
  lease.host = "host";
  lease.pid = 1;
  lease.application = "test";
  lease.ttl = ttl;
  session.create_lease(lease);
  return lease.id;
}

void create(store::session& session, const std::string& name) {
  const model::lock_definition definition{.name = name};
  session.create({&definition, 1});
}

std::optional<model::token> acquire(store::session& session, const claim& wanted) {
  const store::acquire_item request{.name = wanted.name, .lease = wanted.lease, .hold = wanted.hold};
  const auto grants = session.acquire({&request, 1});
  if (grants.empty()) return {};
  return grants.front().token;
}

bool release(store::session& session, const claim& held, store::durability how) {
  const store::release_item request{.name = held.name, .lease = held.lease, .hold = held.hold};
  return !session.release({&request, 1}, how).empty();
}

bool renew(store::session& session, lease_id lease) {
  return !session.renew({&lease, 1}).renewed.empty();
}

store::edit_result edit(store::session& session, const std::string& name,
                        const std::function<store::lock_change(const store::lock_view&)>& decide) {
  const store::edit_request request{.name = name, .about = {}, .decide = decide};
  return session.edit({&request, 1}).front();
}

std::optional<store::lock_view> look(store::session& session, const std::string& name) {
  std::optional<store::lock_view> seen;
  edit(session, name, [&](const store::lock_view& view) {
    seen = view;
    return store::lock_change{};
  });
  return seen;
}

claim new_hold(store::session& session, const std::string& name) {
  claim wanted{name, new_lease(session), hold_id::random()};
  create(session, name);
  if (!acquire(session, wanted)) throw std::runtime_error("the test could not acquire \"" + name + "\"");
  return wanted;
}

}  // namespace rowlock::test
