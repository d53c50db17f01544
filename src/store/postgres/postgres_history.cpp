// The history of locks. An edit writes its lines.
#include "store/decode.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

std::vector<recording> postgres_session::recordings() {
  return read_recordings(connection_.call("recordings"));
}

void postgres_session::check_history() {
  connection_.call("check_history");
}

void postgres_session::record(const recording& what) {
  if (connection_.call("start_recording", what.pattern, what.keep, what.age).affected() == 0) {
    throw missing_meta_row(context_->options);
  }
}

bool postgres_session::stop_recording(const std::string& pattern) {
  return connection_.call("stop_recording", pattern).affected() > 0;
}

std::vector<history_line> postgres_session::read_history(const std::string& name, std::int64_t before,
                                                         std::size_t limit) {
  return store::read_history(connection_.call("read_history", name, before, limit));
}

std::int64_t postgres_session::prune_history(const std::string& name, std::int64_t keep,
                                             std::chrono::hours age, std::size_t limit) {
  return static_cast<std::int64_t>(connection_.call("prune_history", name, keep, age, limit).affected());
}

std::vector<std::string> postgres_session::names_with_history(const std::string& after, std::size_t limit) {
  return read_names(connection_.call("names_with_history", after, limit));
}

}  // namespace rowlock::store
