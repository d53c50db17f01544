// The history of locks. An edit writes its lines.
#include "memory/memory_session.hpp"

#include <algorithm>

namespace rowlock::store {

void add_history(memory_transaction& transaction, const std::string& name, const lock_change& change) {
  if (change.history.empty()) return;
  auto& lines = transaction.tables.history[name];
  for (const history_entry& entry : change.history) {
    memory_history_line line{.happened_at = transaction.now};
    line.line.id = lines.empty() ? 1 : lines.rbegin()->first + 1;
    line.line.entry = entry;
    if (const memory_lease* lease = transaction.tables.find_lease(entry.lease)) {
      line.line.host = lease->record.host;
      line.line.user = lease->record.user;
      line.line.pid = lease->record.pid;
      line.line.application = lease->record.application;
      line.line.program = lease->record.program;
    }
    lines.emplace(line.line.id, line);
  }
}

std::vector<recording> memory_session::recordings() {
  return run("recordings", [](memory_transaction& transaction) {
    std::vector<recording> result;
    for (const auto& [pattern, what] : transaction.tables.recordings) result.push_back(what);
    return result;
  });
}

void memory_session::check_history() {
  run("check_history", [](memory_transaction&) { return true; });
}

void memory_session::record(const recording& what) {
  run("record", [what](memory_transaction& transaction) {
    transaction.tables.recordings.insert_or_assign(what.pattern, what);
    ++transaction.tables.recordings_version;
    return transaction.wrote = true;
  });
}

bool memory_session::stop_recording(const std::string& pattern) {
  return run("stop_recording", [pattern](memory_transaction& transaction) {
    if (transaction.tables.recordings.erase(pattern) == 0) return false;
    ++transaction.tables.recordings_version;
    return transaction.wrote = true;
  });
}

std::vector<history_line> memory_session::read_history(const std::string& name, std::int64_t before,
                                                       std::size_t limit) {
  return run("read_history", [name, before, limit](memory_transaction& transaction) {
    std::vector<history_line> result;
    const auto found = transaction.tables.history.find(name);
    if (found == transaction.tables.history.end()) return result;
    const auto& lines = found->second;
    for (auto at = std::make_reverse_iterator(lines.lower_bound(before));
         at != lines.rend() && result.size() < limit; ++at) {
      result.push_back(at->second.line);
      result.back().ago =
          std::chrono::floor<std::chrono::milliseconds>(transaction.now - at->second.happened_at);
    }
    return result;
  });
}

std::int64_t memory_session::prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                                           std::size_t limit) {
  return run("prune_history", [name, keep, age, limit](memory_transaction& transaction) -> std::int64_t {
    const auto found = transaction.tables.history.find(name);
    if (found == transaction.tables.history.end()) return 0;
    auto& lines = found->second;
    std::int64_t pruned = 0;
    const auto goes = [&](const auto& first) {
      return static_cast<std::int64_t>(lines.size()) > keep ||
             first.second.happened_at + age < transaction.now;
    };
    while (!lines.empty() && goes(*lines.begin()) && pruned < static_cast<std::int64_t>(limit)) {
      lines.erase(lines.begin());
      ++pruned;
    }
    if (lines.empty()) transaction.tables.history.erase(found);
    transaction.wrote = pruned > 0;
    return pruned;
  });
}

std::vector<std::string> memory_session::names_with_history(const std::string& after, std::size_t limit) {
  return run("names_with_history", [after, limit](memory_transaction& transaction) {
    std::vector<std::string> result;
    const auto& all = transaction.tables.history;
    for (auto at = all.upper_bound(after); at != all.end() && result.size() < limit; ++at)
      result.push_back(at->first);
    return result;
  });
}

}  // namespace rowlock::store
