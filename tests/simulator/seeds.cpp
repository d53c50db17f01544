#include "simulator/seeds.hpp"

#include "simulator/native.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

namespace rowlock::simulator {

namespace {

constexpr std::size_t failures_kept = 64;
// A run takes milliseconds, so a run that takes this long hangs. The limit counts processor time, of which a busy
// machine may give a run little; a run that uses none has a limit in real time.
constexpr rlim_t processor_seconds_per_run = 30;
constexpr unsigned seconds_per_run = 600;

struct worker_report {
  std::atomic<std::uint64_t> seeds{0};
  std::uint64_t events = 0;
  std::uint64_t switches = 0;
  std::array<std::uint64_t, 3> severities{};
  std::array<std::uint64_t, quorum_events> of_quorums{};
  std::array<std::uint64_t, fault_kinds> faults{};
  // How many seeds had that many events; the last one counts all that had more.
  std::array<std::uint64_t, 20'000> histogram{};
  run_result latest;
};

struct kept_failure {
  std::uint64_t seed = 0;
  char rule[32]{};
  char what[4000]{};
};

struct board {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::size_t> failures{0};
  std::array<kept_failure, failures_kept> failed;
  std::array<worker_report, 8> workers;
};

template <class Shared>
Shared* make_shared_memory() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("there is no shared memory");
  return new (memory) Shared;
}

void run_child(std::uint64_t seed, const omissions& without, bool prints, run_result& into) {
  into.ended = false;
  into.failed = true;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const ::rlimit processor{processor_seconds_per_run, processor_seconds_per_run + 1};
    ::setrlimit(RLIMIT_CPU, &processor);
    ::alarm(seconds_per_run);
    story plan = make_story(seed);
    leave_out(plan, without);
    run_and_exit(plan, prints, into);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  if (into.ended) return;
  into.failed = true;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  std::snprintf(into.rule, sizeof into.rule, "%s",
                signal == SIGALRM || signal == SIGXCPU ? "hangs" : "crash");
  if (WIFEXITED(status)) {
    // A sanitizer ends a run in this way.
    std::snprintf(into.what, sizeof into.what, "the run ended with exit code %d", WEXITSTATUS(status));
  } else {
    std::snprintf(into.what, sizeof into.what, "the run ended with signal %d", signal);
  }
}

// Passing the turn is several times faster on one processor than between two.
void stay_on_one_processor(int which) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int many = CPU_COUNT(&allowed);
  int left = many == 0 ? 0 : which % many;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

void work(board& shared, worker_report& mine, const seed_range& range, double begin) {
  for (;;) {
    if (range.seconds > 0 && seconds_of_this_machine() - begin > range.seconds) return;
    if (shared.failures.load() >= range.failures_at_most) return;
    const auto seed = range.first + shared.next.fetch_add(1);
    if (seed > range.last) return;
    auto& result = mine.latest;
    run_child(seed, {}, false, result);
    mine.seeds.fetch_add(1);
    mine.events += result.events;
    mine.switches += result.switches;
    ++mine.severities[static_cast<std::size_t>(make_story(seed).how)];
    for (std::size_t i = 0; i < fault_kinds; ++i) mine.faults[i] += result.faults[i];
    for (std::size_t i = 0; i < quorum_events; ++i) mine.of_quorums[i] += result.of_quorums[i];
    ++mine.histogram[std::min<std::uint64_t>(result.events, mine.histogram.size() - 1)];
    if (!result.failed) continue;
    const auto place = shared.failures.fetch_add(1);
    if (place >= failures_kept) continue;
    auto& kept = shared.failed[place];
    kept.seed = seed;
    std::memcpy(kept.rule, result.rule, sizeof kept.rule);
    std::memcpy(kept.what, result.what, sizeof kept.what);
  }
}

}  // namespace

run_result run_seed(std::uint64_t seed, const omissions& without, bool prints) {
  static auto* result = make_shared_memory<run_result>();
  *result = run_result{};
  run_child(seed, without, prints, *result);
  return *result;
}

seeds_summary run_seeds(const seed_range& range) {
  auto* shared = make_shared_memory<board>();
  const double begin = seconds_of_this_machine();
  const int jobs = std::clamp(range.jobs, 1, static_cast<int>(shared->workers.size()));
  std::vector<pid_t> children;
  std::fflush(stdout);
  for (int i = 0; i < jobs; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      stay_on_one_processor(i);
      work(*shared, shared->workers[static_cast<std::size_t>(i)], range, begin);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);

  seeds_summary sum;
  std::vector<std::uint64_t> histogram(shared->workers[0].histogram.size());
  for (const auto& one : shared->workers) {
    sum.seeds += one.seeds.load();
    sum.events += one.events;
    sum.switches += one.switches;
    for (std::size_t i = 0; i < sum.severities.size(); ++i) sum.severities[i] += one.severities[i];
    for (std::size_t i = 0; i < fault_kinds; ++i) sum.faults[i] += one.faults[i];
    for (std::size_t i = 0; i < quorum_events; ++i) sum.of_quorums[i] += one.of_quorums[i];
    for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += one.histogram[i];
  }
  std::uint64_t below = 0;
  while (sum.median_events < histogram.size() && (below += histogram[sum.median_events]) * 2 < sum.seeds)
    ++sum.median_events;
  for (std::size_t i = 0; i < std::min(shared->failures.load(), failures_kept); ++i) {
    const auto& one = shared->failed[i];
    sum.failures.push_back({one.seed, one.rule, one.what});
  }
  std::ranges::sort(sum.failures, {}, &failed_seed::seed);
  sum.seconds = seconds_of_this_machine() - begin;
  ::munmap(shared, sizeof *shared);
  return sum;
}

omissions shrink(std::uint64_t seed, const std::string& rule) {
  const story whole = make_story(seed);
  omissions best;
  const auto still_fails = [&](const omissions& without) {
    const auto result = run_seed(seed, without, false);
    return result.failed && result.rule == rule;
  };
  const auto try_without = [&](auto member, int number) {
    auto tried = best;
    if (!(tried.*member).insert(number).second || !still_fails(tried)) return false;
    best = std::move(tried);
    return true;
  };
  // Leaves out what one client or one thread does, then each operation and fault by itself, until nothing more can be
  // left out.
  for (const auto& plan : {true, false}) {
    for (int client = 1; client <= static_cast<int>(whole.clients.size()); ++client) {
      for (int thread = plan ? -1 : 0; thread < (plan ? 0 : 3); ++thread) {
        auto tried = best;
        for (const auto& one : whole.operations) {
          if (one.client == client && (thread < 0 || one.thread == thread))
            tried.operations.insert(one.number);
        }
        if (still_fails(tried)) best = std::move(tried);
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& one : whole.faults) changed = try_without(&omissions::faults, one.number) || changed;
    for (const auto& one : whole.operations)
      changed = try_without(&omissions::operations, one.number) || changed;
  }
  auto calm = best;
  calm.calm_scheduling = true;
  return still_fails(calm) ? calm : best;
}

}  // namespace rowlock::simulator
