#include "histories.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rowlock::test {

using history::event_kind;

void histories::read() {
  for (const auto& entry : std::filesystem::directory_iterator{folder_}) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto file = entry.path().filename().string();
    auto& at = read_[file];
    std::ifstream from{entry.path()};
    from.seekg(at);
    std::string text{std::istreambuf_iterator<char>{from}, {}};
    // The last line may be half written.
    const auto end = text.rfind('\n');
    if (end == std::string::npos) continue;
    text.resize(end + 1);
    at += static_cast<std::streamoff>(text.size());
    std::istringstream lines{text};
    const auto known = events_.size();
    history::read_events(lines, file, events_);
    for (auto next = known; next < events_.size(); ++next) take(events_[next]);
  }
}

void histories::take(const history::event& now) {
  if (now.kind == event_kind::info) ++counts_[now.op];
  if (now.kind == event_kind::lost) ++counts_["lost"];
  highest_token_ = std::max(highest_token_, now.token.value_or(0));
  if (now.op == "worked") work_[now.name].push_back(now.time);
  auto& holds = open_holds_[now.process];
  if (now.op == "acquire" && now.kind == event_kind::ok && now.capacity == 1) holds.insert(now.hold);
  if (now.op == "release" && now.kind == event_kind::invoke) holds.erase(now.hold);
}

std::optional<std::int64_t> histories::first_work(const std::string& name, std::int64_t since) const {
  const auto found = work_.find(name);
  if (found == work_.end()) return {};
  std::optional<std::int64_t> first;
  // What is searched for is at the end. Lines of several processes are nearly in order.
  const auto& times = found->second;
  for (auto at = times.rbegin(); at != times.rend() && *at >= since - 10'000'000'000; ++at) {
    if (*at >= since && (!first || *at < *first)) first = *at;
  }
  return first;
}

std::set<std::string> histories::holders() const {
  std::set<std::string> found;
  for (const auto& [process, holds] : open_holds_) {
    if (!holds.empty()) found.insert(process);
  }
  return found;
}

std::int64_t histories::count(const std::string& op) const {
  const auto found = counts_.find(op);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace rowlock::test
