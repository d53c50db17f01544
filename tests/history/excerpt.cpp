#include "excerpt.hpp"

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace rowlock::history {

namespace {

constexpr std::size_t shown_around = 3;

std::string line_of(const event& one, std::int64_t start) {
  auto text = fmt::format("{:>12.3f} ms  {:<20} {:<8} {:<6}", static_cast<double>(one.time - start) / 1e6,
                          one.actor.empty() ? one.process : one.process + " " + one.actor, one.op,
                          to_string(one.kind));
  if (!one.hold.empty()) text += "  hold " + one.hold.substr(0, 12);
  if (one.token) text += fmt::format("  token {}", *one.token);
  if (one.ticket) text += fmt::format("  ticket {}", *one.ticket);
  if (one.weight != 1) text += fmt::format("  weight {}", one.weight);
  if (!one.reason.empty()) text += "  " + one.reason;
  return cli::printable(fmt::format("{}  ({}:{})", text, one.file, one.line));
}

}  // namespace

void print(const violation& broken, const std::vector<event>& events, const lock_history& lock,
           std::ostream& to) {
  to << broken.rule << ": " << cli::printable(broken.name) << ": " << cli::printable(broken.what) << '\n';
  const std::set<std::size_t> proof{broken.events.begin(), broken.events.end()};
  std::set<std::size_t> shown;
  for (std::size_t i = 0; i < lock.events.size(); ++i) {
    if (!proof.contains(lock.events[i])) continue;
    const auto from = i < shown_around ? 0 : i - shown_around;
    for (auto at = from; at < std::min(lock.events.size(), i + shown_around + 1); ++at) shown.insert(at);
  }
  std::size_t previous = 0;
  for (const auto at : shown) {
    if (at > previous + 1 && at != *shown.begin()) to << "    ...\n";
    previous = at;
    const auto position = lock.events[at];
    to << (proof.contains(position) ? "  > " : "    ") << line_of(events[position], events.front().time)
       << '\n';
  }
}

}  // namespace rowlock::history
