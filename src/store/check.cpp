#include "store/check.hpp"

#include "store/schema_version.hpp"

#include <cstdlib>

namespace rowlock::store {

namespace {

constexpr std::int64_t clock_limit_ms = 2'000;
constexpr std::int64_t idle_names_limit = 1'000;

bool clocks_differ(const server_facts& facts) {
  return std::abs(facts.number("clock_offset_ms")) > clock_limit_ms + facts.number("clock_uncertainty_ms");
}

}  // namespace

std::vector<check> common_checks() {
  return {
      {.code = "not-migrated",
       .level = severity::error,
       .reads = {"schema_version"},
       .is_so =
           [](const server_facts& facts) { return facts.number("schema_version") < library_schema_version; },
       .found = "the schema ({prefix}*) has version {schema_version} here, and this rowlock needs "
                "{library_version}; version 0 means that there are no tables, or none that this user can see",
       .why = "This rowlock can use no lock here until the missing migrations are applied.",
       .remedy = "{migrate_command}"},
      {.code = "too-new",
       .level = severity::error,
       .reads = {"min_library"},
       .is_so =
           [](const server_facts& facts) { return facts.number("min_library") > library_schema_version; },
       .found =
           "the schema needs a library that knows version {min_library} (meta.min_library), and this one "
           "knows {library_version}",
       .why = "This rowlock could break what newer clients rely on, so it refuses to connect.",
       .remedy = "install a newer rowlock"},
      {.code = "clock-drift",
       .level = severity::warning,
       .reads = {"clock_offset_ms"},
       .is_so = clocks_differ,
       .found = "the server's clock differs from this machine's by {clock_offset_ms} ms, give or take "
                "{clock_uncertainty_ms} ms",
       .why = "One of the two clocks is wrong. If it is the server's, and somebody corrects it while leases "
              "live, they expire too early or too late.",
       .remedy = "run NTP on both machines: chronyc tracking"},
      {.code = "dead-holders",
       .level = severity::warning,
       .reads = {"dead_leases"},
       .is_so = [](const server_facts& facts) { return facts.number("dead_leases") > 0; },
       .found = "{dead_leases} leases expired more than five minutes ago, and nobody has cleared them",
       .why = "What they hold looks held until the next request for it; no live client sweeps here.",
       .remedy = "rowlock sweep"},
      {.code = "idle-names",
       .level = severity::note,
       .reads = {"idle_names"},
       .is_so = [](const server_facts& facts) { return facts.number("idle_names") >= idle_names_limit; },
       .found = "{idle_names} names are free and were not acquired for 30 days",
       .why = "Names stay until somebody deletes them, and each sweep and listing reads them all.",
       .remedy = "rowlock gc --idle 30d, each night"},
  };
}

}  // namespace rowlock::store
