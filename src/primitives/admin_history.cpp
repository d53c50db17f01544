// The functions of admin that read and configure histories.
#include <rowlock/admin.hpp>

#include "client/engine.hpp"
#include "model/names.hpp"
#include "primitives/access.hpp"
#include "primitives/prune_histories.hpp"
#include "store/history_verbs.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using primitives::access;

history_line to_public(const store::history_line& line) {
  return {line.id,
          line.ago,
          std::string{to_string(line.entry.event)},
          fencing_token{line.entry.token},
          line.entry.hold,
          line.entry.detail,
          line.host,
          line.user,
          line.pid,
          line.application,
          line.program};
}

// When the line of a loss is written, the lease is gone already. The line of the hold's grant says who the holder was.
void name_the_lost(std::vector<history_line>& lines) {
  std::map<hold_id, const history_line*> known;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->hold_id.is_nil()) continue;
    if (!line->host.empty()) {
      known[line->hold_id] = &*line;
      continue;
    }
    const auto found = known.find(line->hold_id);
    if (found == known.end()) continue;
    const auto& from = *found->second;
    std::tie(line->host, line->user, line->pid, line->application, line->command) =
        std::tie(from.host, from.user, from.pid, from.application, from.command);
  }
}

void check_recording(const recording& what) {
  model::check_name(what.pattern);
  const auto refuse = [](const std::string& message) { throw error(errc::invalid_argument, message); };
  if (const auto star = what.pattern.find('*'); star != std::string::npos && star + 1 != what.pattern.size())
    refuse("the pattern \"" + what.pattern + "\" has a * that is not at its end");
  if (what.keep < 1 || what.keep > 1'000'000)
    refuse("keeping " + std::to_string(what.keep) + " lines of a name is outside 1 to 1,000,000");
  if (what.age < std::chrono::hours{1} || what.age > std::chrono::hours{24 * 3653})
    refuse("an age of " + std::to_string(what.age.count()) + " hours is outside 1 hour to ten years");
}

}  // namespace

std::vector<history_line> admin::history(const std::string& name, std::size_t limit) {
  model::check_name(name);
  const auto most = std::min(limit, store::admin_verbs::no_limit);
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  const auto lines = access::tasks(db_).result_of(
      [name, most](store::session& session) { return session.history().read_history(name, last, most); });
  std::vector<history_line> shown;
  for (const auto& line : lines) shown.push_back(to_public(line));
  name_the_lost(shown);
  return shown;
}

std::vector<recording> admin::recordings() {
  std::vector<recording> shown;
  for (const auto& one :
       access::tasks(db_).result_of([](store::session& session) { return session.history().recordings(); })) {
    shown.push_back({one.pattern, one.keep, one.age});
  }
  return shown;
}

void admin::record(const recording& what) {
  check_recording(what);
  access::tasks(db_).result_of([what](store::session& session) {
    session.history().record({what.pattern, what.keep, what.age});
    return true;
  });
}

bool admin::stop_recording(const std::string& pattern) {
  model::check_name(pattern);
  return access::tasks(db_).result_of(
      [pattern](store::session& session) { return session.history().stop_recording(pattern); });
}

ROWLOCK_END_NAMESPACE

namespace rowlock::primitives {

void prune_histories(client_layer::task_executor& tasks) {
  constexpr std::size_t at_once = 1000;
  for (std::string after;;) {
    const auto names = tasks.result_of(
        [after](store::session& session) { return session.history().names_with_history(after, at_once); });
    for (const auto& name : names) {
      for (auto pruned = static_cast<std::int64_t>(at_once); pruned == static_cast<std::int64_t>(at_once);) {
        pruned = tasks.result_of([name](store::session& session) {
          auto& history = session.history();
          const auto kept = store::recording_of(name, history.recordings());
          return history.prune_history(name, kept ? kept->keep : 0, kept ? kept->age : std::chrono::hours{0},
                                       at_once);
        });
      }
    }
    if (names.size() < at_once) return;
    after = names.back();
  }
}

}  // namespace rowlock::primitives
