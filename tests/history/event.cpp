#include "event.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <istream>

namespace rowlock::history {

namespace {

using nlohmann::json;

event_kind kind_of(const std::string& text) {
  for (const auto kind :
       {event_kind::invoke, event_kind::ok, event_kind::fail, event_kind::lost, event_kind::info}) {
    if (text == to_string(kind)) return kind;
  }
  throw bad_history("the event '" + text + "' is none of invoke, ok, fail, lost and info");
}

std::optional<std::int64_t> number(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || found->is_null()) return {};
  return found->get<std::int64_t>();
}

event parse(const json& line) {
  event read;
  read.kind = kind_of(line.at("event").get<std::string>());
  read.op = line.at("op").get<std::string>();
  read.time = line.at("boot_ns").get<std::int64_t>();
  read.since = number(line, "since_ns").value_or(read.time);
  read.process = line.at("process").get<std::string>();
  read.name = line.at("name").get<std::string>();
  read.wall = line.value("wall", "");
  read.actor = line.value("actor", "");
  read.call = line.value("call", std::int64_t{0});
  read.hold = line.value("hold", "");
  read.ticket = number(line, "ticket");
  read.token = number(line, "token");
  read.mode = line.value("mode", "exclusive");
  read.weight = line.value("weight", std::int64_t{1});
  read.capacity = line.value("capacity", std::int64_t{1});
  read.fair = line.value("fair", true);
  read.ttl_ms = line.value("ttl_ms", std::int64_t{30'000});
  read.reason = line.value("reason", "");
  read.holders = line.value("holders", std::vector<std::string>{});
  read.waiters = line.value("waiters", std::vector<std::string>{});
  if (read.weight < 0 || read.capacity < 1) throw bad_history("a weight or capacity is out of range");
  if (read.since > read.time) throw bad_history("since_ns is after boot_ns");
  return read;
}

}  // namespace

const char* to_string(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::invoke: return "invoke";
    case event_kind::ok: return "ok";
    case event_kind::fail: return "fail";
    case event_kind::lost: return "lost";
    case event_kind::info: return "info";
  }
  return "";
}

void read_events(std::istream& from, const std::string& file, std::vector<event>& to) {
  std::size_t number = 0;
  for (std::string text; std::getline(from, text);) {
    ++number;
    if (text.empty()) continue;
    try {
      to.push_back(parse(json::parse(text)));
      to.back().file = file;
      to.back().line = number;
    } catch (const std::exception& problem) {
      if (from.eof()) return;
      throw bad_history(file + ":" + std::to_string(number) + ": " + problem.what());
    }
  }
}

void sort_events(std::vector<event>& events) {
  std::ranges::stable_sort(events, {}, &event::time);
}

}  // namespace rowlock::history
