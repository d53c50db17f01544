// The history of locks. An edit writes its lines.
#include "store/decode.hpp"
#include "store/sqlite/sqlite_session.hpp"

namespace rowlock::store {

std::vector<recording> sqlite_session::recordings() {
  return read_recordings(connection_.query("recordings"));
}

// Who may write the file may write every table in it.
void sqlite_session::check_history() {}

void sqlite_session::record(const recording& what) {
  writing transaction{*this, durability::durable};
  connection_.query("start_recording", what.pattern, what.keep, what.age).run();
  connection_.query("change_recordings").run();
  transaction.finish();
}

bool sqlite_session::stop_recording(const std::string& pattern) {
  writing transaction{*this, durability::durable};
  if (connection_.query("stop_recording", pattern).run() == 0) return false;
  connection_.query("change_recordings").run();
  transaction.finish();
  return true;
}

std::vector<history_line> sqlite_session::read_history(const std::string& name, std::int64_t before,
                                                       std::size_t limit) {
  return store::read_history(connection_.query("read_history", name, before, limit));
}

std::int64_t sqlite_session::prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                                           std::size_t limit) {
  writing transaction{*this, durability::asynchronous};
  const auto pruned = connection_.query("prune_history", name, keep, age, limit).run();
  transaction.finish();
  return pruned;
}

std::vector<std::string> sqlite_session::names_with_history(const std::string& after, std::size_t limit) {
  return read_names(connection_.query("names_with_history", after, limit));
}

}  // namespace rowlock::store
