#include "store/check.hpp"

#include "store/schema_version.hpp"

#include <algorithm>
#include <cstdlib>

namespace rowlock::store {

namespace {

std::vector<std::string_view> joined(std::vector<std::string_view> left,
                                     const std::vector<std::string_view>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

bool clocks_differ(const server_facts& of) {
  constexpr std::int64_t limit_ms = 2'000;
  return std::abs(of.number("clock_offset_ms")) > limit_ms + of.number("clock_uncertainty_ms");
}

}  // namespace

condition operator&&(condition left, condition right) {
  return {joined(std::move(left.reads), right.reads),
          [one = std::move(left.holds), other = std::move(right.holds)](const server_facts& of) {
            return one(of) && other(of);
          }};
}

condition operator||(condition left, condition right) {
  return {joined(std::move(left.reads), right.reads),
          [one = std::move(left.holds), other = std::move(right.holds)](const server_facts& of) {
            return one(of) || other(of);
          }};
}

condition computed(std::vector<std::string_view> reads, std::function<bool(const server_facts&)> is_so) {
  return {reads, [reads, is_so = std::move(is_so)](const server_facts& of) {
            return std::ranges::all_of(reads, [&](auto name) { return of.has(name); }) && is_so(of);
          }};
}

condition fact::is(std::string_view value) const {
  return computed({name_}, [name = name_, value](const server_facts& of) { return of[name] == value; });
}

condition fact::is_not(std::string_view value) const {
  return computed({name_}, [name = name_, value](const server_facts& of) { return of[name] != value; });
}

condition fact::is_at_least(std::int64_t number) const {
  return computed({name_},
                  [name = name_, number](const server_facts& of) { return of.number(name) >= number; });
}

condition fact::is_below(std::int64_t number) const {
  return computed({name_},
                  [name = name_, number](const server_facts& of) { return of.number(name) < number; });
}

condition fact::nearly_fills(std::string_view limit) const {
  return computed({name_, limit}, [name = name_, limit](const server_facts& of) {
    return of.number(name) * 100 >= of.number(limit) * 80;
  });
}

condition fact::is_there() const {
  return computed({name_}, [](const server_facts&) { return true; });
}

condition fact::is_absent() const {
  return {{}, [name = name_](const server_facts& of) { return !of.has(name); }};
}

std::span<const check> common_checks() {
  static const check checks[] = {
      {.code = "not-migrated",
       .level = severity::error,
       .when = fact("schema_version").is_below(library_schema_version),
       .found = "the schema ({prefix}*) has version {schema_version} here, and this rowlock needs "
                "{library_version}; version 0 means that there are no tables, or none that this user can see",
       .why = "This rowlock can use no lock here until the missing migrations are applied.",
       .remedy = "{migrate_command}"},
      {.code = "too-new",
       .level = severity::error,
       .when = fact("min_library").is_at_least(library_schema_version + 1),
       .found = "the schema needs a library that knows version {min_library} (meta.min_library), "
                "and this one knows {library_version}",
       .why = "This rowlock could break what newer clients rely on, so it refuses to connect.",
       .remedy = "install a newer rowlock"},
      {.code = "clock-drift",
       .level = severity::warning,
       .when = computed({"clock_offset_ms"}, clocks_differ),
       .found = "the server's clock differs from this machine's by {clock_offset_ms} ms, "
                "give or take {clock_uncertainty_ms} ms",
       .why = "One of the two clocks is wrong. If it is the server's, "
              "and somebody corrects it while leases live, they expire too early or too late.",
       .remedy = "run NTP on both machines: chronyc tracking"},
      {.code = "dead-holders",
       .level = severity::warning,
       .when = fact("dead_leases").is_at_least(1),
       .found = "{dead_leases} leases expired more than five minutes ago, and nobody has cleared them",
       .why = "What they hold looks held until the next request for it; no live client sweeps here.",
       .remedy = "rowlock sweep"},
      {.code = "idle-names",
       .level = severity::note,
       .when = fact("idle_names").is_at_least(1'000),
       .found = "{idle_names} names are free and were not acquired for 30 days",
       .why = "Names stay until somebody deletes them, and each sweep and listing reads them all.",
       .remedy = "rowlock gc --idle 30d, each night"},
  };
  return checks;
}

}  // namespace rowlock::store
