#include "simulator/program.hpp"

#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"

#include <rowlock/error.hpp>

#include <thread>
#include <utility>

namespace rowlock::simulator {

std::chrono::nanoseconds in_chrono(nanoseconds length) {
  return std::chrono::nanoseconds{length};
}

nanoseconds in_nanoseconds(std::chrono::milliseconds length) {
  return std::chrono::nanoseconds{length}.count();
}

program::program(const story& plan, int client, process& home, scheduler& runs, recorder& records,
                 oracle& checks, shared_state& shared)
    : story_(plan),
      client_(client),
      home_(home),
      runs_(runs),
      records_(records),
      checks_(checks),
      shared_(shared) {
  home_.client = client;
  home_.clock = this->plan().clock;
  endings_.resize(static_cast<std::size_t>(this->plan().threads));
}

void program::start(bool second_life) {
  const as_process here{home_};
  for (int thread = 0; thread < threads(); ++thread) {
    std::vector<operation> todo;
    if (second_life && thread == 0) todo = first_of_second_life();
    for (const auto& one : story_.operations) {
      const bool mine = one.client == client_ && one.thread == thread;
      if (mine && (!second_life || one.number % 2 == 0)) todo.push_back(one);
    }
    std::thread{[this, thread, todo = std::move(todo)] { run_thread(thread, todo); }}.detach();
  }
}

std::string program::pending() const {
  std::string text;
  for (std::size_t i = 0; i < endings_.size(); ++i) {
    if (!endings_[i].waits_in.empty())
      text += fmt::format("  client {} user {} is in: {}\n", client_, i, endings_[i].waits_in);
  }
  return text;
}

nanoseconds program::longest_call() const {
  return in_nanoseconds(plan().settings.connect_timeout + 2 * plan().settings.statement_timeout);
}

// How much longer than its limit a call may take: rowlock promises the time of a statement; the rest is for the
// threads.
nanoseconds program::slack() const {
  return in_nanoseconds(plan().settings.statement_timeout) + 400 * millisecond;
}

// How long a release may take.
nanoseconds program::close_limit() const {
  return in_nanoseconds(plan().settings.close_timeout) + 400 * millisecond;
}

// How long the operation's call may take. A limit of zero does not wait for a holder, but still for the database.
nanoseconds program::limit_of(const operation& one) const {
  return (one.limit == 0 ? longest_call() : one.limit) + slack();
}

void program::pause(nanoseconds length) {
  runs_.sleep_until(runs_.now() + length);
}

client program::open(world& where, oracle& checks) {
  auto settings = plan().settings;
  settings.log = [this, &checks](log_level, std::string_view line) {
    if (records_.prints()) records_.print("log", std::string{line});
    checks.logged(line);
    if (plan().slow_log == 0) return;
    records_.count(fault_kind::logger_slow);
    pause(plan().slow_log);
  };
  const std::shared_ptr<store::database> database = where.open();
  return primitives::access::make<client>(client_layer::closing_handle(
      client_layer::engine::open([database] { return database; }, settings, client_layer::system_time())));
}

void program::run_thread(int thread, std::vector<operation> todo) {
  auto& mine = endings_[static_cast<std::size_t>(thread)];
  if (thread == 0) connect();
  while (!is_connected()) pause(10 * millisecond);
  for (const auto& one : todo) {
    pause(one.pause);
    mine.waits_in = fmt::format("#{} {} \"{}\"", one.number, to_string(one.what), name_of(one.where));
    perform(one, thread);
    mine.waits_in.clear();
  }
  ++done_;
  shared_.wait_until(runs_, shared_.closing);
  ++left_;
  if (thread != 0) return;
  while (left_ < threads()) pause(5 * millisecond);
  close();
  closed_ = true;
}

void program::close_client(client& db) {
  records_.event("close");
  const auto began = runs_.now();
  const auto still = home_.stalled_in_total;
  db.close();
  // A slow logger or callback belongs to the user, and close() waits for it.
  checks_.call_ended("close", began, still,
                     in_nanoseconds(plan().settings.close_timeout) + 300 * millisecond + plan().slow_log * 3 +
                         plan().slow_callback * 3);
}

void program::perform(const operation& one, int thread) {
  records_.event(to_string(one.what),
                 [&] { return fmt::format("#{} user {} \"{}\"", one.number, thread, name_of(one.where)); });
  checks_.begins(home_);
  try {
    act(one);
    checks_.ends(home_);
    records_.event("ends",
                   [&] { return fmt::format("#{} user {} {}", one.number, thread, to_string(one.what)); });
  } catch (const error& failure) {
    checks_.ends(home_);
    checks_.call_failed(fmt::format("#{} {} \"{}\"", one.number, to_string(one.what), name_of(one.where)),
                        failure, is_expected(one, failure));
  }
}

}  // namespace rowlock::simulator
