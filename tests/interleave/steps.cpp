#include "steps.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace rowlock::test {

using namespace std::chrono_literals;

namespace {

// No run needs more; a run that exceeds this repeats itself for ever.
constexpr std::size_t steps_at_most = 2'000;
// The server ends a deadlock of its own within a second or a few.
constexpr auto settled_within = 30s;

thread_local step_scheduler* scheduler_of_this_thread = nullptr;
thread_local actor* actor_of_this_thread = nullptr;

std::string shortened(std::string_view statement) {
  std::string text{statement.substr(0, 100)};
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

step_scheduler::~step_scheduler() {
  {
    const std::lock_guard lock{mutex_};
    abandoned_ = true;
    changed_.notify_all();
  }
  for (const auto& who : actors_) {
    // A run that failed may leave an actor before its next statement inside the server.
    while (who->thread_.joinable()) {
      std::unique_lock lock{mutex_};
      if (changed_.wait_for(lock, 1ms, [&] { return who->state_ == actor::state::finished; })) {
        lock.unlock();
        who->thread_.join();
        break;
      }
      const auto backend = who->backend_;
      lock.unlock();
      if (server_.look({&backend, 1}).front() == server_view::sight::stopped) server_.let_go(backend);
    }
  }
}

void step_scheduler::add(std::string name, std::function<void()> calls) {
  auto& who = *actors_.emplace_back(std::make_unique<actor>());
  who.name_ = std::move(name);
  who.calls_ = std::move(calls);
}

bool step_scheduler::on_actor() noexcept {
  return actor_of_this_thread != nullptr;
}

void step_scheduler::stop_before(std::string_view statement) {
  if (on_actor()) scheduler_of_this_thread->stop(*actor_of_this_thread, statement, false);
}

void step_scheduler::wait_for_others() {
  if (on_actor()) scheduler_of_this_thread->stop(*actor_of_this_thread, "(tries again)", true);
}

bool step_scheduler::wait_for_lock(int attempts) {
  if (!on_actor()) return true;
  auto& scheduler = *scheduler_of_this_thread;
  if (attempts == 0) {
    const std::lock_guard lock{scheduler.mutex_};
    ++scheduler.blocked_;
  }
  wait_for_others();
  const std::lock_guard lock{scheduler.mutex_};
  return !scheduler.abandoned_ && (scheduler.patient_ || attempts == 0);
}

void step_scheduler::use_backend(const std::string& id) {
  if (!on_actor()) return;
  auto& scheduler = *scheduler_of_this_thread;
  // The view has a connection of its own, which nothing stops.
  auto* const self = std::exchange(actor_of_this_thread, nullptr);
  scheduler.server_.stop_in_blocks(id);
  actor_of_this_thread = self;
  const std::lock_guard lock{scheduler.mutex_};
  self->backend_ = id;
}

void step_scheduler::stop(actor& who, std::string_view statement, bool waits_for_others) {
  std::unique_lock lock{mutex_};
  who.state_ = actor::state::stopped;
  who.waits_for_others_ = waits_for_others;
  who.next_ = shortened(statement);
  changed_.notify_all();
  changed_.wait(lock, [&] { return who.told_to_go_ || abandoned_; });
  who.told_to_go_ = false;
  who.state_ = actor::state::running;
}

// Returns when each actor has stopped, has finished or waits for a lock of the server.
void step_scheduler::settle() {
  const auto until = std::chrono::steady_clock::now() + settled_within;
  for (;;) {
    std::vector<actor*> moving;
    std::vector<std::string> backends;
    {
      std::unique_lock lock{mutex_};
      const auto moves = [](const auto& who) {
        return who->state_ == actor::state::running && !who->stopped_in_server_;
      };
      changed_.wait_for(lock, 300us, [&] { return std::ranges::none_of(actors_, moves); });
      for (const auto& who : actors_) {
        if (!moves(who)) continue;
        moving.push_back(who.get());
        backends.push_back(who->backend_);
      }
    }
    if (moving.empty()) return;
    const auto seen = server_.look(backends);
    const std::lock_guard lock{mutex_};
    std::size_t waiting = 0;
    for (std::size_t i = 0; i < moving.size(); ++i) {
      if (moving[i]->state_ != actor::state::running || moving[i]->backend_ != backends[i]) continue;
      if (seen[i] == server_view::sight::stopped) {
        moving[i]->stopped_in_server_ = true;
        moving[i]->next_ = "(the next statement of its block)";
      }
      if (seen[i] != server_view::sight::blocked) continue;
      ++waiting;
      if (!std::exchange(moving[i]->is_blocked_, true)) ++blocked_;
    }
    const auto others_can_move = std::ranges::any_of(actors_, [](const auto& who) {
      return who->state_ == actor::state::stopped || who->stopped_in_server_;
    });
    if (waiting > 0 && waiting == moving.size() && others_can_move) return;
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("the connections do not move on");
  }
}

std::vector<actor*> step_scheduler::able() const {
  const std::lock_guard lock{mutex_};
  std::vector<actor*> all, fresh;
  for (const auto& who : actors_) {
    if (who->state_ != actor::state::stopped && !who->stopped_in_server_) continue;
    all.push_back(who.get());
    if (!who->waits_for_others_) fresh.push_back(who.get());
  }
  return fresh.empty() ? all : fresh;
}

void step_scheduler::let_go(actor& who) {
  std::string backend;
  {
    const std::lock_guard lock{mutex_};
    events_.push_back(who.name_ + ": " + who.next_);
    order_ += who.name_ + ' ';
    if (last_ != nullptr && last_ != &who) ++switches_;
    last_ = &who;
    who.is_blocked_ = false;
    for (const auto& other : actors_) {
      if (other.get() != &who) other->waits_for_others_ = false;
    }
    who.waits_for_others_ = false;
    if (std::exchange(who.stopped_in_server_, false)) {
      backend = who.backend_;
    } else {
      who.told_to_go_ = true;
      who.state_ = actor::state::running;
      changed_.notify_all();
    }
  }
  if (!backend.empty()) server_.let_go(backend);
}

void step_scheduler::run(const std::function<std::size_t(std::size_t)>& pick,
                         const std::function<void()>& after_step) {
  for (const auto& made : actors_) {
    auto& who = *made;
    who.state_ = actor::state::running;
    who.thread_ = std::thread{[this, &who] {
      scheduler_of_this_thread = this;
      actor_of_this_thread = &who;
      try {
        who.calls_();
      } catch (...) {
        who.failure_ = std::current_exception();
      }
      actor_of_this_thread = nullptr;
      const std::lock_guard lock{mutex_};
      who.state_ = actor::state::finished;
      changed_.notify_all();
    }};
    settle();
  }
  for (std::size_t step = 0;; ++step) {
    const auto choice = able();
    if (choice.empty()) break;
    if (step == steps_at_most) throw std::runtime_error("the run does not end");
    if (choice.size() > 1) ++choices_;
    let_go(*choice[choice.size() > 1 ? pick(choice.size()) : 0]);
    settle();
    after_step();
  }
  for (const auto& who : actors_) {
    who->thread_.join();
    if (who->failure_) std::rethrow_exception(who->failure_);
  }
}

std::string step_scheduler::order() const {
  const std::lock_guard lock{mutex_};
  return order_;
}

std::string step_scheduler::story() const {
  const std::lock_guard lock{mutex_};
  std::string text;
  for (const auto& event : events_) text += "  " + event + '\n';
  return text;
}

}  // namespace rowlock::test
