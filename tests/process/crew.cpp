#include "crew.hpp"

#include <stdexcept>

namespace rowlock::test {

crew::crew(worker_settings settings, std::string load, std::size_t size)
    : settings_{std::move(settings)}, load_{std::move(load)}, members_(size) {
  refill();
}

void crew::start(member& one) const {
  one = std::make_unique<worker>(settings_);
  const auto said = one->ask(load_);
  if (said != "loading") throw std::runtime_error("the worker says: " + said);
}

std::vector<crew::member*> crew::living() {
  std::vector<member*> found;
  for (auto& one : members_) {
    if (one) found.push_back(&one);
  }
  return found;
}

std::vector<crew::member*> crew::living(const std::set<std::int64_t>& pids) {
  auto found = living();
  std::erase_if(found, [&](const member* one) { return !pids.contains((*one)->pid()); });
  return found;
}

std::size_t crew::count_of(const std::set<std::int64_t>& pids) {
  return living(pids).size();
}

void crew::kill_one(std::mt19937& random) {
  remove_one(random);
  refill();
}

bool crew::kill_one_of(const pids_of& choose, std::mt19937& random) {
  if (!remove_one_of(choose, random)) return false;
  refill();
  return true;
}

void crew::remove_one(std::mt19937& random) {
  const auto all = living();
  all.at(random() % all.size())->reset();
}

bool crew::remove_one_of(const pids_of& choose, std::mt19937& random) {
  const auto found = living(choose());
  if (found.empty()) return false;
  auto& one = *found[random() % found.size()];
  one->stop();
  if (choose().contains(one->pid())) {
    one.reset();
    return true;
  }
  one->go_on();
  return false;
}

void crew::refill() {
  for (auto& one : members_) {
    if (!one) start(one);
  }
}

crew::counts crew::end(const std::string& how) {
  counts sums;
  for (auto& one : members_) {
    for (const auto& [what, count] : one->counts(how, std::chrono::seconds{60})) sums[what] += count;
  }
  for (auto& one : members_) one->finish();
  members_.clear();
  return sums;
}

}  // namespace rowlock::test
