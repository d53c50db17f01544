#include "checks.hpp"

#include "excerpt.hpp"
#include "ledger.hpp"
#include "step.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <iostream>

namespace rowlock::test {

namespace {

using complaints = std::vector<std::string>;

// A lock may be free for a while when the database cannot be reached.
constexpr auto longest_wait_for_a_free_lock = 20s;

bool explains(const fault& about, const std::string& what) {
  return std::ranges::find(about.explains, what) != about.explains.end();
}

// Whether the waiter that was overtaken had lost its lease, and with it its place.
bool lost_its_place(const history::violation& broken, const std::vector<history::event>& events) {
  const auto& requested = events[broken.events.at(2)];
  const auto& granted = events[broken.events.at(3)];
  return std::ranges::any_of(events, [&](const history::event& one) {
    return one.op == "lease-lost" && one.process == granted.process && one.time >= requested.time &&
           one.time <= granted.time;
  });
}

void check_histories(const histories& told, const fault& about, complaints& found) {
  auto events = told.events();
  history::sort_events(events);
  const auto locks = history::locks_of(events);
  for (const auto& broken : history::check(events, {longest_wait_for_a_free_lock})) {
    if (explains(about, broken.rule)) continue;
    if (broken.rule == "order" && lost_its_place(broken, events)) continue;
    history::print(broken, events, locks.at(broken.name), std::cerr);
    found.push_back(broken.rule + ": " + broken.what);
  }
}

void check_ledger(sql_session& session, const load_settings& load, const histories& told, const fault& about,
                  complaints& found) {
  ledger book{session, load.ledger_prefix()};
  const auto audit = book.check();
  const auto expect_none = [&](std::int64_t count, const std::string& what) {
    if (count != 0) found.push_back("ledger: " + std::to_string(count) + what);
  };
  expect_none(audit.token_faults, " writes with a token not above that of the write before");
  expect_none(audit.repeated_values, " values were written twice");
  expect_none(audit.logged - audit.counted, " more writes in the log than in the counters");

  std::set<std::string> granted;
  std::set<std::string> written;
  for (const auto& one : told.events()) {
    if (one.op == "acquire" && one.kind == history::event_kind::ok) granted.insert(one.hold);
    if (one.op == "written") written.insert(one.hold);
  }
  std::int64_t strange = 0;
  for (const auto& row : session.run("SELECT hold_id FROM " + load.ledger_prefix() + "log")) {
    strange += granted.contains(row.at(0)) ? 0 : 1;
    written.erase(row.at(0));
  }
  expect_none(strange, " writes under holds that nobody was granted");
  if (!about.loses_commits)
    expect_none(static_cast<std::int64_t>(written.size()), " confirmed writes are missing");
}

void check_errors(const histories& told, const fault& about, complaints& found) {
  static const std::set<std::string> known{"state",  "queue",  "written", "worked",
                                           "failed", "killed", "refused", "lease-lost"};
  std::map<std::string, std::pair<std::int64_t, std::string>> others;
  for (const auto& one : told.events()) {
    if (one.kind != history::event_kind::info || known.contains(one.op) || explains(about, one.op)) continue;
    auto& [count, text] = others[one.op];
    ++count;
    text = one.reason;
  }
  for (const auto& [what, seen] : others) {
    const auto& [count, text] = seen;
    found.push_back(what == "unaware" ? "guard: " + std::to_string(count) +
                                            " holds were refused that still said to be valid"
                                      : "error: " + std::to_string(count) + " times " + what + ": " + text);
  }
}

}  // namespace

std::vector<std::string> violations_of(site& where, const load_settings& load, const histories& told,
                                       const fault& about) {
  complaints found;
  begin_step("check the histories of " + load.row);
  check_histories(told, about, found);
  begin_step("check the ledger of " + load.row);
  check_ledger(*where.session(), load, told, about, found);
  check_errors(told, about, found);
  return found;
}

void until_nothing_is_left(site& where) {
  options how;
  how.application = "rowlock faults, sweeping";
  auto db = connect(where.url(), how);
  admin database{db};
  until(
      "nothing is left of the dead",
      [&] {
        database.sweep();
        // If the sweeper has a lease of its own, that lease does not count.
        return where.number("SELECT count(*) FROM @queue") == 0 &&
               where.number("SELECT count(*) FROM @permit") == 0 &&
               where.number("SELECT count(*) FROM @lock WHERE in_use <> 0 OR hold_id IS NOT NULL") == 0 &&
               where.number("SELECT count(*) FROM @lease") == 0;
      },
      30s);
}

}  // namespace rowlock::test
