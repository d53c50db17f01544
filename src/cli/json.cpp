#include "cli/json.hpp"

#include "cli/holder_text.hpp"

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

// JSON allows DEL and the C1 controls in a string, but a terminal obeys them.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const bool is_c1 = byte(at) == 0xC2 && at + 1 < text.size() && byte(at + 1) < 0xA0;
    if (is_c1 || byte(at) == 0x7F) {
      result += fmt::format("\\u{:04x}", is_c1 ? byte(++at) : byte(at));
    } else {
      result += text[at];
    }
  }
  return result;
}

}  // namespace

json::object to_json(const lock_info& lock) {
  json::array holders;
  for (const auto& holder : lock.holders) {
    holders.push_back(json::object{{"host", holder.host},
                                   {"pid", holder.pid},
                                   {"application", holder.application},
                                   {"user", holder.user},
                                   {"command", holder.command},
                                   {"data", holder.data},
                                   {"hold_id", holder.hold_id.to_string()},
                                   {"lease_id", holder.lease_id.to_string()},
                                   {"mode", to_string(holder.mode)},
                                   {"weight", holder.weight},
                                   {"token", holder.token.value()},
                                   {"held_ms", holder.held_for.count()},
                                   {"held_since", time_text(-holder.held_for)},
                                   {"expires_in_ms", holder.expires_in.count()},
                                   {"expires_at", time_text(holder.expires_in)},
                                   {"state", rests(holder)        ? "rests"
                                             : is_expired(holder) ? "expired"
                                                                  : "holds"}});
  }
  json::object shown{{"name", lock.name},         {"kind", to_string(lock.kind)},
                     {"capacity", lock.capacity}, {"in_use", lock.in_use},
                     {"fair", lock.fair},         {"token", lock.token.value()},
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
          {"user", waiter.user},
          {"command", waiter.command},
          {"hold_id", waiter.hold_id.to_string()},
          {"lease_id", waiter.lease_id.to_string()},
          {"mode", to_string(waiter.mode)},
          {"weight", waiter.weight},
          {"expires_in_ms", waiter.expires_in.count()},
          {"alive", waiter.alive}};
}

std::string json_text(const json::array& values) {
  return escaped(converted(values).dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

std::string json_line(const json::object& members) {
  return escaped(converted(members).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void json_printer::add(const json::object& element) {
  // Without the array's brackets.
  const auto text = json_text({element});
  fmt::print("{}{}", is_empty_ ? '[' : ',', std::string_view{text}.substr(1, text.size() - 3));
  is_empty_ = false;
}

void json_printer::finish() {
  fmt::print("{}\n", is_empty_ ? "[]" : "\n]");
}

void print_json(const json::array& values) {
  fmt::print("{}\n", json_text(values));
}

}  // namespace rowlock::cli
