#include "cli/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rowlock::cli {

namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json converted(const Value& value) {
  return value;
}

template <>
ordered_json converted(const json::array& values);
template <>
ordered_json converted(const json::object& members);

template <>
ordered_json converted(const json& value) {
  return std::visit([](const auto& kind) { return converted(kind); }, value.value());
}

template <>
ordered_json converted(const json::array& values) {
  auto result = ordered_json::array();
  for (const auto& one : values) result.push_back(converted(one));
  return result;
}

template <>
ordered_json converted(const json::object& members) {
  auto result = ordered_json::object();
  for (const auto& [name, value] : members) result[name] = converted(value);
  return result;
}

}  // namespace

json::object to_json(const lock_info& lock) {
  json::array holders;
  for (const auto& holder : lock.holders) {
    holders.push_back(json::object{{"host", holder.host},
                                   {"pid", holder.pid},
                                   {"application", holder.application},
                                   {"hold_id", holder.hold_id},
                                   {"lease_id", holder.lease_id},
                                   {"mode", to_string(holder.mode)},
                                   {"weight", holder.weight},
                                   {"token", holder.token},
                                   {"held_ms", holder.held_for.count()},
                                   {"expires_in_ms", holder.expires_in.count()}});
  }
  json::object shown{{"name", lock.name},         {"kind", to_string(lock.kind)},
                     {"capacity", lock.capacity}, {"in_use", lock.in_use},
                     {"fair", lock.fair},         {"token", lock.token},
                     {"waiters", lock.waiters},   {"holders", holders}};
  if (lock.request) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(lock.request->remaining);
    shown.emplace_back("request",
                       json::object{{"reason", lock.request->reason}, {"remaining_ms", left.count()}});
  }
  return shown;
}

json::object to_json(const waiter_info& waiter) {
  return {{"ticket", waiter.ticket},
          {"host", waiter.host},
          {"pid", waiter.pid},
          {"application", waiter.application},
          {"hold_id", waiter.hold_id},
          {"lease_id", waiter.lease_id},
          {"mode", to_string(waiter.mode)},
          {"weight", waiter.weight},
          {"expires_in_ms", waiter.expires_in.count()},
          {"alive", waiter.alive}};
}

void print_json(const json::array& values) {
  fmt::print("{}\n", converted(values).dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace rowlock::cli
