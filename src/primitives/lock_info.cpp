#include "primitives/lock_info.hpp"

#include "client/decision/hold_data.hpp"

namespace rowlock::primitives {

namespace {

// A hold with an explicit ttl has a lease of its own, which names its client's.
bool stands_on_lease_of(client_layer::engine& engine, const store::lease_record& lease) {
  const auto own = engine.services().queue.lease();
  return own && lease.client == own->id();
}

}  // namespace

lock_info to_public(const store::lock_info& info, client_layer::engine& asked_by) {
  lock_info shown{info.row.name,
                  info.row.kind,
                  info.row.capacity,
                  info.row.in_use,
                  info.row.fair,
                  fencing_token{info.row.token},
                  info.waiters,
                  {},
                  {}};
  for (const auto& holder : info.holders) {
    shown.holders.push_back(
        {holder.lease.host, holder.lease.pid, holder.lease.application, holder.hold, holder.lease.id,
         holder.mode, holder.weight, fencing_token{holder.token}, holder.held_for, holder.expires_in,
         holder.lease.user, holder.lease.program,
         stands_on_lease_of(asked_by, holder.lease) || asked_by.holds().contains(holder.hold),
         client_layer::data_of(holder), model::rests(holder.hold, holder.lease.id)});
    if (info.request && holder.token <= info.request->upto) {
      shown.request = {info.request->reason, info.request->within};
    }
  }
  return shown;
}

waiter_info to_public(const store::waiter_info& info, client_layer::engine& asked_by) {
  return {info.waiter.ticket,
          info.lease.host,
          info.lease.pid,
          info.lease.application,
          info.waiter.hold,
          info.waiter.lease,
          info.waiter.mode,
          info.waiter.weight,
          info.expires_in,
          info.alive,
          info.lease.user,
          info.lease.program,
          info.alive && stands_on_lease_of(asked_by, info.lease)};
}

}  // namespace rowlock::primitives
