#include "cli/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rowlock::cli {

using json = nlohmann::ordered_json;

json to_json(const lock_info& lock) {
  json holders = json::array();
  for (const auto& holder : lock.holders) {
    holders.push_back({{"host", holder.host},
                       {"pid", holder.pid},
                       {"application", holder.application},
                       {"hold_id", holder.hold_id},
                       {"lease_id", holder.lease_id},
                       {"mode", holder.mode},
                       {"weight", holder.weight},
                       {"token", holder.token},
                       {"held_ms", holder.held_for.count()},
                       {"expires_in_ms", holder.expires_in.count()}});
  }
  json shown{{"name", lock.name}, {"kind", lock.kind},   {"capacity", lock.capacity}, {"in_use", lock.in_use},
             {"fair", lock.fair}, {"token", lock.token}, {"waiters", lock.waiters},   {"holders", holders}};
  if (lock.request) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(lock.request->remaining);
    shown["request"] = {{"reason", lock.request->reason}, {"remaining_ms", left.count()}};
  }
  return shown;
}

json to_json(const waiter_info& waiter) {
  return {{"ticket", waiter.ticket},
          {"host", waiter.host},
          {"pid", waiter.pid},
          {"application", waiter.application},
          {"hold_id", waiter.hold_id},
          {"lease_id", waiter.lease_id},
          {"mode", waiter.mode},
          {"weight", waiter.weight},
          {"expires_in_ms", waiter.expires_in.count()},
          {"alive", waiter.alive}};
}

void print_json(const json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, json::error_handler_t::replace));
}

}  // namespace rowlock::cli
