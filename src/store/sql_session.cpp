#include "store/sql_session.hpp"

#include "store/decode.hpp"
#include "store/schema_version.hpp"

#include <utility>

namespace rowlock::store {

error sql_session::no_meta_row() const {
  return missing_meta_row(options_, url_option_);
}

template <class Decode>
auto sql_session::decoded(const std::string& statement, sql_values values, Decode decode, extent how) {
  decltype(decode(std::declval<rows&&>())) result{};
  read(statement, values, how, [&](rows&& found) { result = decode(std::move(found)); });
  return result;
}

void sql_session::set_skew(std::chrono::milliseconds skew) {
  if (write("set_skew", {{"skew_ms", skew}}, durability::durable) == 0) throw no_meta_row();
}

// ---- reading -----------------------------------------------------------------------------------------

std::vector<lock_info> sql_session::list(const std::string& after, std::size_t limit) {
  return decoded("list", {{"after", after}, {"most", limit}}, read_locks,
                 limit == no_limit ? extent::all : extent::page);
}

std::optional<lock_info> sql_session::show(const std::string& name) {
  return decoded("show", {{"name", name}}, read_lock);
}

std::vector<waiter_info> sql_session::queue(const std::string& name) {
  return decoded("queue", {{"name", name}}, read_waiters);
}

std::vector<std::string> sql_session::waited_for() {
  return decoded("waited_for", {}, read_names, extent::all);
}

held_page sql_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  const auto last = decoded("read_held_page", {{"after", after}, {"most", limit}}, [&](rows&& end) {
    if (!end.next() || end.null("name")) return std::optional<std::string>{};
    const auto name = std::optional{end.text("name")};
    if (end.integer("names") == static_cast<std::int64_t>(limit)) page.next = name;
    return name;
  });
  if (!last) return page;
  page.entries =
      decoded("read_held", {{"client", client}, {"after", after}, {"last", *last}}, read_held_entries);
  return page;
}

stale sql_session::find_stale(std::size_t limit, std::chrono::microseconds skew, const std::string& after) {
  auto leases = decoded("find_stale_leases", {{"skew_us", skew}, {"most", limit}}, read_leases, extent::all);
  auto found = decoded("find_stale_names", {{"after", after}, {"most", limit}}, read_stale_names);
  found.leases = std::move(leases);
  return found;
}

// ---- the history: an edit writes its lines -----------------------------------------------------------

std::vector<recording> sql_session::recordings() {
  return decoded("recordings", {}, read_recordings);
}

void sql_session::check_history() {
  write("check_history", {}, durability::durable);
}

void sql_session::record(const recording& what) {
  const auto written = write_recording("start_recording",
                                       {{"pattern", what.pattern}, {"keep", what.keep}, {"age_h", what.age}});
  if (written == 0) throw no_meta_row();
}

bool sql_session::stop_recording(const std::string& pattern) {
  return write_recording("stop_recording", {{"pattern", pattern}}) > 0;
}

std::vector<history_line> sql_session::read_history(const std::string& name, std::int64_t before,
                                                    std::size_t limit) {
  return decoded("read_history", {{"name", name}, {"before", before}, {"most", limit}}, store::read_history);
}

std::int64_t sql_session::prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                                        std::size_t limit) {
  return write("prune_history", {{"name", name}, {"keep", keep}, {"age_h", age}, {"most", limit}},
               durability::asynchronous);
}

std::vector<std::string> sql_session::names_with_history(const std::string& after, std::size_t limit) {
  return decoded("names_with_history", {{"after", after}, {"most", limit}}, read_names);
}

}  // namespace rowlock::store
