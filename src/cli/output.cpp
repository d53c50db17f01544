#include "cli/output.hpp"

#include "cli/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace rowlock::cli {

namespace {

// Escapes DEL and the C1 controls: JSON allows them in a string, but a terminal obeys them.
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

std::string block_of(const finding& one) {
  return fmt::format("{}: {}\n  found:  {}\n  why:    {}\n  remedy: {}\n\n", to_string(one.level), one.code,
                     one_line(one.found), one_line(one.why), one_line(one.remedy));
}

std::string block_of_unknown(const std::vector<finding>& all) {
  std::string text = fmt::format("unknown: {} checks could not be made\n", all.size());
  std::vector<std::string> remedies;
  for (const auto& one : all) {
    text += fmt::format("  {}: {}\n", one.code, one_line(one.found));
    if (std::ranges::find(remedies, one.remedy) == remedies.end()) remedies.push_back(one.remedy);
  }
  for (const auto& remedy : remedies) text += fmt::format("  remedy: {}\n", one_line(remedy));
  return text + "\n";
}

}  // namespace

json to_json(const lock_info& lock) {
  auto holders = json::array();
  for (const auto& holder : lock.holders) {
    holders.push_back(json::object({{"host", holder.host},
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
                                    {"state", holder.rests         ? "rests"
                                              : is_expired(holder) ? "expired"
                                                                   : "holds"}}));
  }
  auto shown = json::object({{"name", lock.name},
                             {"kind", to_string(lock.kind)},
                             {"capacity", lock.capacity},
                             {"in_use", lock.in_use},
                             {"fair", lock.fair},
                             {"token", lock.token.value()},
                             {"waiters", lock.waiters},
                             {"holders", holders}});
  if (lock.request) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(lock.request->remaining);
    shown["request"] = json::object({{"reason", lock.request->reason}, {"remaining_ms", left.count()}});
  }
  return shown;
}

json to_json(const waiter_info& waiter) {
  return json::object({{"ticket", waiter.ticket},
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
                       {"alive", waiter.alive}});
}

json to_json(const history_line& line) {
  return json::object({{"id", line.id},
                       {"at", time_text(-line.ago)},
                       {"event", line.event},
                       {"token", line.token.value()},
                       {"hold_id", line.hold_id.is_nil() ? "" : line.hold_id.to_string()},
                       {"detail", line.detail},
                       {"host", line.host},
                       {"user", line.user},
                       {"pid", line.pid},
                       {"application", line.application},
                       {"command", line.command}});
}

json to_json(const finding& one) {
  return json::object({{"code", one.code},
                       {"severity", to_string(one.level)},
                       {"found", one.found},
                       {"why", one.why},
                       {"remedy", one.remedy}});
}

std::string json_text(const json& value) {
  return escaped(value.dump(2, ' ', false, json::error_handler_t::replace));
}

std::string json_line(const json& value) {
  return escaped(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

void print_json(const std::vector<json>& elements) {
  fmt::print("{}\n", json_text(elements));
}

void json_printer::add(const json& element) {
  // The text of an array of one element, without the array's brackets.
  const auto text = json_text(json::array({element}));
  fmt::print("{}{}", is_empty_ ? '[' : ',', std::string_view{text}.substr(1, text.size() - 3));
  is_empty_ = false;
}

void json_printer::finish() {
  fmt::print("{}\n", is_empty_ ? "[]" : "\n]");
}

bool is_expired(const holder_info& holder) {
  return holder.expires_in < std::chrono::milliseconds{0};
}

bool is_held_by_the_dead(const lock_info& lock) {
  return lock.in_use > 0 && lock.holders.empty() && lock.kind != lock_kind::latch &&
         lock.kind != lock_kind::barrier && lock.kind != lock_kind::unknown;
}

std::string who_text(const std::string& user, const std::string& host, std::int64_t pid,
                     const std::string& application, const std::string& command) {
  const bool says_more = !command.empty() && command != application;
  return fmt::format("{}{}{}:{} {}{}{}", user, user.empty() ? "" : "@", host, pid, application,
                     says_more ? ": " : "", says_more ? command : "");
}

std::string holder_text(const holder_info& holder) {
  if (holder.rests) return "(rests)";
  return who_text(holder.user, holder.host, holder.pid, holder.application, holder.command) +
         (is_expired(holder) ? " (expired)" : "");
}

std::string time_text(std::chrono::milliseconds from_now) {
  const auto then = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() + from_now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

std::string findings_text(const std::vector<finding>& findings) {
  std::vector<finding> unknown;
  std::ranges::copy_if(findings, std::back_inserter(unknown),
                       [](const auto& one) { return one.level == severity::unknown; });
  std::string text;
  bool are_unknown_told = unknown.size() < 2;
  for (const auto& one : findings) {
    if (one.level != severity::unknown || unknown.size() < 2) {
      text += block_of(one);
    } else if (!are_unknown_told) {
      text += block_of_unknown(unknown);
      are_unknown_told = true;
    }
  }
  const auto count = [&](severity level) {
    return static_cast<long long>(std::ranges::count(findings, level, &finding::level));
  };
  return text + fmt::format("{}, {}, {} unknown, {}\n", count_of(count(severity::error), "error"),
                            count_of(count(severity::warning), "warning"), unknown.size(),
                            count_of(count(severity::note), "note"));
}

}  // namespace rowlock::cli
