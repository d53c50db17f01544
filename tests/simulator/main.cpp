// The simulator runs rowlock's layers above the store over the memory store, in virtual time, with faults.
// docs/correctness.md says what it checks and how to read its output.
#include "simulator/seeds.hpp"

#include <sys/personality.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace rowlock::simulator;

constexpr std::string_view help =
    R"(rowlock_simulator [--seeds FIRST..LAST] [--jobs N] [--seconds S] [--failures N] [--all-faults]
rowlock_simulator --seed N [--trace] [--shrink] [--without-operations 1,2] [--without-faults 3] [--plain-order]

  --seeds       which seeds run; 1..1000 unless given
  --jobs        how many processes run them; 2 unless given
  --seconds     no new seed begins after that time
  --failures    stops after so many failing seeds; 10 unless given
  --all-faults  fails if a kind of fault never happened
  --seed        runs one seed, and prints what it was
  --trace       prints every event of it
  --shrink      leaves out what the failure does not need, and prints the story that is left

The exit code is 0 if no rule was broken, 1 if one was, 64 for wrong arguments.
)";

struct arguments {
  seed_range range{.failures_at_most = 10};
  std::optional<std::uint64_t> seed;
  bool trace = false;
  bool shrinks = false;
  bool all_faults = false;
  omissions without;
};

std::set<int> numbers_of(const std::string& text) {
  std::set<int> found;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    found.insert(std::stoi(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return found;
}

arguments parse(int count, char** words) {
  arguments made;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (++i < count) return words[i];
      std::fprintf(stderr, "%s needs a value\n", word.c_str());
      std::exit(64);
    };
    if (word == "--seeds") {
      const auto text = value();
      const auto dots = text.find("..");
      made.range.first = std::stoull(text);
      made.range.last = dots == std::string::npos ? made.range.first : std::stoull(text.substr(dots + 2));
    } else if (word == "--jobs") {
      made.range.jobs = std::stoi(value());
    } else if (word == "--seconds") {
      made.range.seconds = std::stod(value());
    } else if (word == "--failures") {
      made.range.failures_at_most = std::stoull(value());
    } else if (word == "--seed") {
      made.seed = std::stoull(value());
    } else if (word == "--trace") {
      made.trace = true;
    } else if (word == "--shrink") {
      made.shrinks = true;
    } else if (word == "--all-faults") {
      made.all_faults = true;
    } else if (word == "--without-operations") {
      made.without.operations = numbers_of(value());
    } else if (word == "--without-faults") {
      made.without.faults = numbers_of(value());
    } else if (word == "--plain-order") {
      made.without.calm_scheduling = true;
    } else {
      std::fputs(help.data(), word == "--help" || word == "-h" ? stdout : stderr);
      std::exit(word == "--help" || word == "-h" ? 0 : 64);
    }
  }
  return made;
}

std::string list_of(const std::set<int>& numbers) {
  std::string text;
  for (const int one : numbers) text += (text.empty() ? "" : ",") + std::to_string(one);
  return text;
}

std::string again(std::uint64_t seed, const omissions& without) {
  std::string text = "--seed " + std::to_string(seed);
  if (!without.operations.empty()) text += " --without-operations " + list_of(without.operations);
  if (!without.faults.empty()) text += " --without-faults " + list_of(without.faults);
  if (without.calm_scheduling) text += " --plain-order";
  return text;
}

int run_one(const arguments& asked) {
  const auto seed = *asked.seed;
  auto without = asked.without;
  auto result = run_seed(seed, without, asked.trace && !asked.shrinks);
  if (asked.shrinks && result.failed) {
    without = shrink(seed, result.rule);
    result = run_seed(seed, without, true);
  }
  const auto plan = make_story(seed);
  std::printf(
      "seed %llu (%s, %zu clients): %llu events, %llu switches, %lld ms of virtual time, hash %016llx\n",
      static_cast<unsigned long long>(seed), std::string{to_string(plan.how)}.c_str(), plan.clients.size(),
      static_cast<unsigned long long>(result.events), static_cast<unsigned long long>(result.switches),
      static_cast<long long>(result.virtual_milliseconds), static_cast<unsigned long long>(result.hash));
  if (!result.failed) return 0;
  std::printf("broke %s: %s\nagain: rowlock_simulator %s --trace\n", result.rule, result.what,
              again(seed, without).c_str());
  return 1;
}

int run_many(const arguments& asked) {
  const auto sum = run_seeds(asked.range);
  std::printf(
      "%llu seeds (%llu calm, %llu bounded, %llu unbounded) in %.1f s: "
      "%llu events, median %llu a seed, %llu switches\n",
      static_cast<unsigned long long>(sum.seeds), static_cast<unsigned long long>(sum.severities[0]),
      static_cast<unsigned long long>(sum.severities[1]), static_cast<unsigned long long>(sum.severities[2]),
      sum.seconds, static_cast<unsigned long long>(sum.events),
      static_cast<unsigned long long>(sum.median_events), static_cast<unsigned long long>(sum.switches));
  bool complete = true;
  for (std::size_t i = 0; i < fault_kinds; ++i) {
    std::printf("  %9llu  %s\n", static_cast<unsigned long long>(sum.faults[i]),
                std::string{to_string(static_cast<fault_kind>(i))}.c_str());
    complete = complete && sum.faults[i] > 0;
  }
  std::printf("calls of quorum_mutex: %llu granted, %llu not granted, %llu holds lost\n",
              static_cast<unsigned long long>(sum.of_quorums[0]),
              static_cast<unsigned long long>(sum.of_quorums[1]),
              static_cast<unsigned long long>(sum.of_quorums[2]));
  for (const auto count : sum.of_quorums) complete = complete && count > 0;
  for (const auto& one : sum.failures) {
    std::printf("seed %llu broke %s: %s\n", static_cast<unsigned long long>(one.seed), one.rule.c_str(),
                one.what.c_str());
  }
  if (asked.all_faults && !complete) {
    std::printf("a kind of fault, or a result of quorum_mutex, never happened\n");
    return 1;
  }
  std::printf("%s\n",
              sum.failures.empty() ? "no rule was broken" : "see a seed's story with --seed N --shrink");
  return sum.failures.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  // Containers that are ordered by address must have the same order each time.
  const int now = ::personality(0xffffffff);
  if (now >= 0 && (now & ADDR_NO_RANDOMIZE) == 0 &&
      ::personality(static_cast<unsigned long>(now | ADDR_NO_RANDOMIZE)) >= 0) {
    ::setenv("MALLOC_ARENA_MAX", "1", 1);
    ::execv("/proc/self/exe", words);
  }
  const auto asked = parse(count, words);
  return asked.seed ? run_one(asked) : run_many(asked);
}
