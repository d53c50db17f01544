#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"
#include "bench/stored_names.hpp"
#include "store/open.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t page_size = 1000;  // as a client reads them

double ms_since(clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(clock::now() - begun).count();
}

struct reading {
  double all_ms = 0;
  double longest_page_ms = 0;
  int pages = 0;
};

reading read_all(store::session& session, model::lease_id client) {
  reading done;
  const auto begun = clock::now();
  for (std::string after;;) {
    const auto page_begun = clock::now();
    const auto page = session.read_held(client, after, page_size);
    done.longest_page_ms = std::max(done.longest_page_ms, ms_since(page_begun));
    ++done.pages;
    if (!page.next) break;
    after = *page.next;
  }
  done.all_ms = ms_since(begun);
  return done;
}

}  // namespace

std::vector<result> reconcile(const plan& plan) {
  const int count = plan.threads.value_or(a_million);
  store::store_options options;
  options.prefix = plan.settings.prefix;
  options.schema = plan.settings.schema;
  options.statement_timeout = 60s;
  const auto session = store::open(plan.url, options)->connect();
  create_names(plan, count);
  std::vector<double> all, longest, nothing;
  int pages = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    const auto read = read_all(*session, model::lease_id::random());
    pages = read.pages;
    all.push_back(read.all_ms);
    longest.push_back(read.longest_page_ms);
    const auto begun = clock::now();
    for (int i = 0; i < pages; ++i) session->read_database_state();
    nothing.push_back(ms_since(begun));
  }
  result one;
  one.scenario = "reconcile";
  one.threads = count;
  one.unit = "ms";
  one.rowlock = median(all);
  one.floor = median(nothing);
  one.durability = open_floor(plan)->durability();
  one.details["floor_is"] = "as many small statements as there are pages";
  one.details["pages"] = pages;
  one.details["longest_page_ms"] = median(longest);
  return {one};
}

}  // namespace rowlock::bench
