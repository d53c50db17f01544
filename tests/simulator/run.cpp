#include "simulator/run.hpp"

#include "simulator/actor.hpp"
#include "simulator/native.hpp"
#include "simulator/oracle.hpp"
#include "simulator/quorum_actor.hpp"
#include "simulator/quorum_oracle.hpp"
#include "simulator/world.hpp"

#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

// LeakSanitizer calls this function, in builds that contain it.
extern "C" {
[[gnu::weak]] int __lsan_do_recoverable_leak_check();
[[gnu::visibility("default")]] const char* __lsan_default_suppressions();
// Some memory is not freed: a process forgets another one's receipts, as after a fork(), and here the clients of a run
// are processes.
const char* __lsan_default_suppressions() {
  return "leak:receipts_of_this_process\nleak:client_layer::receipt\n";
}
}

namespace rowlock::simulator {

namespace {

void copy_text(char* to, std::size_t size, std::string_view from) {
  const auto length = std::min(size - 1, from.size());
  from.copy(to, length);
  to[length] = '\0';
}

class run {
 public:
  run(const story& plan, bool prints, run_result& into)
      : plan_(plan),
        into_(into),
        runs_(plan.seed, plan.switches, [this](const std::string& what) { end("deadlock", what); }),
        records_(runs_, prints) {
    for (std::size_t i = 0; i < plan.server_clocks.size(); ++i) {
      oracles_.push_back(std::make_unique<oracle>(
          plan_, runs_, records_, [this, i](std::string_view rule, const std::string& what) {
            end(rule, plan_.is_of_quorum() ? fmt::format("server {}: {}", i + 1, what) : what);
          }));
      worlds_.push_back(std::make_unique<world>(plan_, i, runs_, records_, *oracles_.back()));
    }
    if (!plan.is_of_quorum()) return;
    std::vector<oracle*> members;
    for (const auto& one : oracles_) members.push_back(one.get());
    majority_.emplace(plan_, runs_, records_, members);
  }

  [[noreturn]] void play() {
    worlds_.front()->on_crash = [this](int client) { crashed_.push_back(client); };
    for (std::size_t i = 0; i < plan_.clients.size(); ++i) {
      if (plan_.clients[i].clock.parts_per_million != 0) records_.count(fault_kind::clock_drifts);
      start(static_cast<int>(i) + 1, false);
    }
    run_faults();
    for (const int client : crashed_) start(client, true);
    rest();
    if (std::ranges::any_of(oracles_, [](const auto& one) { return one->has_untold_holds(); })) rest();
    for (const auto& one : oracles_) one->check_holds_at_rest();
    if (majority_) majority_->check_holds_at_rest();
    shared_.set(runs_, shared_.at_rest);
    wait_until_idle();
    rest();
    for (const auto& one : worlds_) sweep(*one);
    for (const auto& one : oracles_) one->check_nothing_is_left();
    close();
    for (const auto& one : oracles_) one->check_closed();
    end({}, {});
  }

 private:
  void start(int client, bool again) {
    process& home = runs_.add_process();
    auto& places = worlds_.front()->processes();
    if (again) {
      std::erase_if(actors_, [&](const auto& one) {
        if (&one->home() != places[static_cast<std::size_t>(client) - 1]) return false;
        dead_.push_back(one);
        return true;
      });
      places[static_cast<std::size_t>(client) - 1] = &home;
    } else {
      places.push_back(&home);
    }
    actors_.push_back(make_program(client, home));
    actors_.back()->start(again);
  }

  std::shared_ptr<program> make_program(int client, process& home) {
    if (!majority_) {
      return std::make_shared<actor>(plan_, client, home, runs_, records_, *oracles_.front(),
                                     *worlds_.front(), shared_);
    }
    std::vector<quorum_actor::member> members;
    for (std::size_t i = 0; i < worlds_.size(); ++i) members.push_back({worlds_[i].get(), oracles_[i].get()});
    return std::make_shared<quorum_actor>(plan_, client, home, runs_, records_, members, *majority_, shared_);
  }

  // Makes the faults of all servers happen at the same time.
  void run_faults() {
    std::size_t under_way = worlds_.size() - 1;
    for (std::size_t i = 1; i < worlds_.size(); ++i) {
      std::thread{[&, i] {
        worlds_[i]->run_faults();
        --under_way;
      }}.detach();
    }
    worlds_.front()->run_faults();
    while (under_way > 0) pause(10 * millisecond);
  }

  void pause(nanoseconds length) { runs_.sleep_until(runs_.now() + length); }

  void wait_until(std::string_view rule, nanoseconds limit, const std::function<bool()>& condition,
                  const std::function<std::string()>& what) {
    const auto until = runs_.now() + limit;
    while (!condition()) {
      if (runs_.now() > until) end(rule, what());
      pause(20 * millisecond);
    }
  }

  // Expects that no living waiter waits for ever.
  void wait_until_idle() {
    const auto idle = [this] {
      return std::ranges::all_of(actors_, [](const auto& one) { return one->is_idle(); });
    };
    wait_until("I6", 120 * second, idle, [this] {
      std::string text = "all faults are over, and after two minutes calls have not returned:\n";
      for (const auto& one : actors_) text += one->pending();
      return text + runs_.describe();
    });
  }

  nanoseconds longest_ttl() const {
    std::int64_t longest = 0;
    for (const auto& one : plan_.clients) longest = std::max<std::int64_t>(longest, one.settings.ttl.count());
    return longest * millisecond;
  }

  // Waits until every dead lease has expired, and some time for what clients repair in the background.
  void rest() {
    const bool steps = plan_.has(fault_kind::clock_stepped);
    pause(2 * longest_ttl() + 4 * second + (steps ? 20 : 0) * second);
  }

  // Does an operator's work. The operator is a client of its own.
  void sweep(world& where) {
    process& home = runs_.add_process();
    home.client = 1;
    bool over = false;
    {
      const as_process here{home};
      std::thread{[&] {
        const std::shared_ptr<store::database> database = where.open();
        {
          client db = primitives::access::make<client>(client_layer::closing_handle(
              client_layer::engine::open([database] { return database; }, plan_.clients.front().settings,
                                         client_layer::system_time())));
          admin console{db};
          for (int round = 0; round < 3; ++round) {
            std::ignore = console.sweep();
            // The operator may be the first client to see another server, and then lengthens all leases.
            pause(round == 0 ? longest_ttl() + second : 400 * millisecond);
          }
        }
        over = true;
      }}.detach();
    }
    wait_until(
        "I6", 20 * second, [&] { return over; }, [] { return std::string{"the sweep does not end"}; });
  }

  void close() {
    pause(200 * millisecond);
    shared_.set(runs_, shared_.closing);
    const auto closed = [this] {
      return std::ranges::all_of(actors_, [](const auto& one) { return one->is_closed(); });
    };
    wait_until("limit", 60 * second, closed,
               [this] { return "a client does not close\n" + runs_.describe(); });
    const auto ended = [this] {
      return std::ranges::all_of(actors_,
                                 [this](const auto& one) { return runs_.threads_of(one->home()) == 0; });
    };
    wait_until("close", 3 * second, ended,
               [this] { return "a closed client has threads left:\n" + runs_.describe(); });
    if (!crashed_.empty()) return;
    for (const auto& one : worlds_) {
      if (const auto left = one->server().sessions(); left != 0)
        end("close", fmt::format("{} connection(s) are left", left));
    }
  }

  [[noreturn]] void end(std::string_view rule, const std::string& what) {
    into_.failed = !rule.empty();
    copy_text(into_.rule, sizeof into_.rule, rule);
    copy_text(into_.what, sizeof into_.what, what);
    into_.hash = runs_.hash();
    into_.events = records_.events();
    into_.switches = runs_.switches();
    into_.points = runs_.points();
    into_.virtual_milliseconds = (runs_.now() - 1000 * second) / millisecond;
    records_.count(fault_kind::thread_delayed, runs_.delays());
    records_.count(fault_kind::spurious_wakeup, runs_.spurious());
    into_.faults = records_.faults();
    into_.of_quorums = records_.of_quorums();
    into_.ended = true;
    if (records_.prints()) std::fflush(stdout);
    if (__lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0) {
      into_.failed = true;
      copy_text(into_.rule, sizeof into_.rule, "leak");
      copy_text(into_.what, sizeof into_.what, "memory is left that nothing refers to");
    }
    for (;;) native_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
  }

  const story& plan_;
  run_result& into_;
  scheduler runs_;
  recorder records_;
  std::vector<std::unique_ptr<oracle>> oracles_;  // one for each server
  std::vector<std::unique_ptr<world>> worlds_;
  std::optional<quorum_oracle> majority_;
  shared_state shared_;
  std::vector<std::shared_ptr<program>> actors_;
  std::vector<std::shared_ptr<program>> dead_;
  std::vector<int> crashed_;
};

}  // namespace

void run_and_exit(const story& plan, bool prints, run_result& into) {
  (new run{plan, prints, into})->play();
}

}  // namespace rowlock::simulator
