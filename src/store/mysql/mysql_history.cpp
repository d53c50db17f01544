// The history of locks. An edit writes its lines.
#include "store/decode.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"
#include "store/mysql/mysql_transaction.hpp"

namespace rowlock::store {

std::vector<recording> mysql_session::recordings() {
  return read_recordings(connection_.read("recordings"));
}

void mysql_session::check_history() {
  connection_.write("check_history");
}

void mysql_session::record(const recording& what) {
  mysql_transaction transaction{connection_, "start_recording"};
  const mysql_statement changes[] = {
      {"start_recording", {mysql_text("pattern", what.pattern), {"keep", what.keep}, {"age_h", what.age}}},
      {"change_recordings", {}}};
  transaction.commit(changes);
}

bool mysql_session::stop_recording(const std::string& pattern) {
  mysql_transaction transaction{connection_, "stop_recording"};
  if (transaction.write({"stop_recording", {mysql_text("pattern", pattern)}}) == 0) return false;
  const mysql_statement last[] = {{"change_recordings", {}}};
  transaction.commit(last);
  return true;
}

std::vector<history_line> mysql_session::read_history(const std::string& name, std::int64_t before,
                                                      std::size_t limit) {
  return store::read_history(
      connection_.read("read_history", {mysql_text("name", name), {"before", before}, {"most", limit}}));
}

std::int64_t mysql_session::prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                                          std::size_t limit) {
  const auto named = mysql_text("name", name);
  auto found = connection_.read("find_old_history", {named, {"keep", keep}, {"age_h", age}});
  const auto cut = found.next() ? found.integer("id") : 0;
  if (cut == 0) return 0;
  return connection_.write("prune_history", {named, {"cut", cut}, {"most", limit}});
}

std::vector<std::string> mysql_session::names_with_history(const std::string& after, std::size_t limit) {
  return read_names(connection_.read("names_with_history", {mysql_text("after", after), {"most", limit}}));
}

}  // namespace rowlock::store
