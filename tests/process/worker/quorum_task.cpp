#include "task.hpp"
#include "witness.hpp"

#include <rowlock/quorum_mutex.hpp>

#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;

// The lock as a program sees it: with all members, or without one that was down when the program started. Where the
// majorities differ, the members' own tokens differ too.
struct view_of_lock {
  view_of_lock(const load_plan& plan, std::vector<std::size_t> known)
      : members{std::move(known)}, lock{clients(plan), plan.names.at(0), settings(plan)} {}

  std::vector<client> clients(const load_plan& plan) const {
    std::vector<client> found;
    for (const auto at : members) found.push_back(plan.databases[at].db);
    return found;
  }
  static quorum_options settings(const load_plan& plan) {
    // A tenth of the workers' ttl, because the machine may be busy.
    return {.members = plan.databases.size(), .member_timeout = 150ms};
  }

  const std::vector<std::size_t> members;
  quorum_mutex lock;
};

// Writes each member's hold to that member's witness, and the quorum's hold, under another name, to the first member's.
class quorum_task final : public task {
 public:
  quorum_task(const load_plan& plan, tally& counts, int index)
      : task{plan, counts}, random_{static_cast<unsigned>(::getpid() * 64 + index)} {
    for (const auto& known : {std::vector<std::size_t>{0, 1, 2}, {0, 1}, {1, 2}, {2, 0}}) {
      views_.push_back(std::make_unique<view_of_lock>(plan, known));
    }
  }

  void run(int round, std::stop_token stop) override {
    auto& view = *views_[static_cast<std::size_t>(::getpid() + round) % views_.size()];
    auto held = view.lock.acquire({.stop = stop});
    ++counts().granted;
    std::vector<std::size_t> told;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (say(view.members[i], held.member_hold(i), true)) told.push_back(i);
    }
    if (say_of_all(held, true)) {
      ++counts().written;
      std::this_thread::sleep_for(std::chrono::microseconds{random_() % 5'000});
      say_of_all(held, false);
    }
    for (const auto i : told) say(view.members[i], held.member_hold(i), false);
    count(held.release());
  }

 private:
  bool say(std::size_t database, const hold& one, bool comes) {
    if (!one.valid()) return false;
    return say(database, {one.name(), one.id().to_string(), one.token().value()}, comes,
               [&] { return one.valid(); });
  }
  bool say_of_all(const quorum_hold& held, bool comes) {
    std::string id;
    for (std::size_t i = 0; i < held.size(); ++i) id += held.member_hold(i).id().to_string();
    return say(0, {held.name() + "/all", id, held.token().value()}, comes, [&] { return held.valid(); });
  }

  bool say(std::size_t at, const visit& one, bool comes, const std::function<bool()>& is_valid) {
    bool said = false;
    speak(
        [&](sql_session& session) {
          witness log{session, plan().databases[at].prefix};
          said = comes ? log.come({one}, 0, is_valid) : log.leave({one}, is_valid);
        },
        at);
    return said;
  }

  std::vector<std::unique_ptr<view_of_lock>> views_;
  std::mt19937 random_;
};

}  // namespace

std::unique_ptr<task> make_quorum_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<quorum_task>(plan, counts, index);
}

}  // namespace rowlock::test
