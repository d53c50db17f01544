#include "crowd.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

#include <algorithm>
#include <fstream>

namespace rowlock::test {

namespace {

// A recovery that takes longer is reported with facts, though it is no violation.
constexpr auto long_recovery = 10s;

}  // namespace

crowd::crowd(load_settings settings, std::vector<site::place> places, std::size_t size)
    : settings_{std::move(settings)}, places_{std::move(places)}, told_{settings_.folder}, members_(size) {
  refill();
}

void crowd::refill() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]) continue;
    auto settings = settings_;
    settings.seed = settings_.seed + ++started_;
    settings.url = places_[i % places_.size()].url;
    settings.application_url = places_[i % places_.size()].application_url;
    auto words = words_of(settings);
    words.insert(words.begin(), "/proc/self/exe");
    members_[i] = std::make_unique<child_process>(words);
  }
}

crowd::work crowd::until_all_work(std::int64_t since,
                                  const std::function<void(const std::string&)>& is_slow) {
  work latest;
  auto slow_at = std::chrono::steady_clock::now() + long_recovery;
  until("work goes on under each lock of " + settings_.row, [&] {
    told_.read();
    latest = {};
    for (const auto& name : settings_.names()) {
      const auto first = told_.first_work(name, since);
      if (!first) {
        if (is_slow && std::chrono::steady_clock::now() > slow_at) {
          slow_at = std::chrono::steady_clock::time_point::max();
          is_slow(name);
        }
        return false;
      }
      if (*first > latest.at) latest = {name, *first};
    }
    for (const auto& one : members_) {
      if (one && one->has_ended()) throw std::runtime_error("a worker has ended by itself");
    }
    return true;
  });
  return latest;
}

bool crowd::holds(const member& one) {
  return told_.holders().contains(std::to_string(one->pid()));
}

crowd::member& crowd::some_holder(std::mt19937& random) {
  member* found = nullptr;
  until("a worker holds a lock", [&] {
    told_.read();
    std::vector<member*> all;
    for (auto& one : members_) {
      if (one && holds(one)) all.push_back(&one);
    }
    if (!all.empty()) found = all[random() % all.size()];
    return found != nullptr;
  });
  return *found;
}

std::int64_t crowd::kill_holder(std::mt19937& random) {
  auto& one = some_holder(random);
  const auto process = std::to_string(one->pid());
  one.reset();
  const auto at = history_recorder::now();
  // The process may have waited for a long time before. Its lease was renewed until now.
  std::ofstream{settings_.folder + "/killed.jsonl", std::ios::app}
      << nlohmann::json{{"event", "info"},
                        {"op", "killed"},
                        {"name", settings_.semaphore()},
                        {"process", process},
                        {"boot_ns", at}}
             .dump()
      << '\n';
  return at;
}

std::int64_t crowd::stop_holder(std::mt19937& random, std::chrono::milliseconds time) {
  for (;;) {
    auto& one = some_holder(random);
    one->signal(SIGSTOP);
    until_stopped(one->pid());
    const auto at = history_recorder::now();
    told_.read();
    // The process may have released the lock meanwhile.
    if (holds(one)) pause(time);
    one->signal(SIGCONT);
    if (holds(one)) return at;
  }
}

void crowd::halt() {
  // Until workers have begun, they do not heed the signal.
  until("all workers have begun", [&] {
    told_.read();
    return std::ranges::all_of(
        members_, [&](auto& one) { return !one || told_.has_begun(std::to_string(one->pid())); });
  });
  for (auto& one : members_) {
    if (one) one->signal(SIGTERM);
  }
  until(
      "all workers end",
      [&] { return std::ranges::all_of(members_, [](auto& one) { return !one || one->has_ended(); }); }, 40s);
  int bad = 0;
  for (auto& one : members_) bad += one && one->wait() != 0 ? 1 : 0;
  members_.clear();
  told_.read();
  if (bad > 0) throw std::runtime_error(std::to_string(bad) + " workers did not end as they should");
}

void crowd::abandon() {
  members_.clear();
  told_.read();
}

}  // namespace rowlock::test
