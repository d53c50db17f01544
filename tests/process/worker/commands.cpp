#include "commands.hpp"

#include "ledger.hpp"
#include "support/descriptors.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <iostream>
#include <sstream>

namespace rowlock::test {

namespace {

void say(const std::string& line) {
  std::cout << line << std::endl;
}

std::string describe(const error& failure) {
  return std::string{"error "} + to_string(failure.kind()) + ' ' + failure.what();
}

std::int64_t microseconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

template <class Call>
errc code_of(Call call) {
  try {
    call();
  } catch (const error& refusal) {
    return refusal.kind();
  }
  return errc::internal;
}

}  // namespace

commands::commands(std::string url, const options& settings)
    : url_{std::move(url)}, settings_{settings}, db_{connect(url_, settings)} {}

void commands::run(const std::string& line) try {
  std::istringstream words{line};
  std::string what, name;
  words >> what;
  if (what == "acquire") return words >> name, say(acquire(name));
  if (what == "acquire_shared") return words >> name, say(keep(shared_mutex{db_, name}.acquire_shared()));
  if (what == "acquire_exclusive") return words >> name, say(keep(shared_mutex{db_, name}.acquire()));
  if (what == "acquire_permits") {
    std::int64_t capacity = 0, count = 0;
    words >> name >> capacity >> count;
    return say(keep(counting_semaphore{db_, name, capacity}.acquire(count)));
  }
  if (what == "campaign") return words >> name, say(campaign(name));
  if (what == "try") return words >> name, say(try_acquire(name, {}));
  if (what == "try_for") {
    std::int64_t limit = 0;
    words >> name >> limit;
    return say(try_acquire(name, std::chrono::milliseconds{limit}));
  }
  if (what == "release") return say(release());
  if (what == "transfer") return say("text " + held_.transfer(std::chrono::minutes{1}));
  if (what == "adopt") return words >> name, say(keep(adopt(db_, name)));
  if (what == "receipt") return say("text " + held_.receipt());
  if (what == "reclaim") return words >> name, say(keep(reclaim(db_, name)));
  if (what == "state") return say(state());
  if (what == "await_loss") return say(await_loss(std::chrono::seconds{10}));
  if (what == "write") return say(write());
  if (what == "stop_before_guard") return say(stop_before_guard());
  if (what == "load") return say(start_load(words));
  if (what == "halt" || what == "join") {
    if (what == "halt") load_->halt();
    load_->join();
    return say(load_->report());
  }
  if (what == "hold_many") {
    int count = 0;
    words >> name >> count;
    for (int i = 0; i < count; ++i) many_.push_back(mutex{db_, name + std::to_string(i)}.acquire());
    return say("held");
  }
  if (what == "release_many") return say(release_all());
  if (what == "count_down") return say(count_down(words));
  if (what == "await_latch") return say(await_latch(words));
  if (what == "arrive") return say(arrive(words));
  if (what == "sweep") return admin{db_}.sweep(), say("swept");
  if (what == "fork") return words >> name, say(fork_child(name));
  if (what == "execute") return say(execute_program());
  if (what == "close") return db_.close(), say("closed");
  say("no such command: " + line);
} catch (const error& failure) {
  say(describe(failure));
} catch (const std::exception& failure) {
  say(std::string{"failed "} + failure.what());
}

std::string commands::keep(hold made) {
  if (!made) return "busy";
  held_ = std::move(made);
  return "granted " + held_.token().to_string() + ' ' + held_.id().to_string();
}

std::string commands::acquire(const std::string& name) {
  return keep(mutex{db_, name}.acquire());
}

std::string commands::campaign(const std::string& name) {
  term_ = election{db_, name}.campaign();
  return "granted " + term_.token().to_string() + ' ' + term_.office().id().to_string();
}

std::string commands::try_acquire(const std::string& name, std::optional<std::chrono::milliseconds> limit) {
  mutex lock{db_, name};
  return keep(limit ? lock.try_acquire_for(*limit) : lock.try_acquire());
}

std::string commands::release() {
  return to_string(held_.release());
}

std::string commands::release_all() {
  std::size_t released = 0;
  for (auto& held : many_) released += held.release() == release_result::released ? 1 : 0;
  const auto all = released == many_.size();
  many_.clear();
  return all ? "released" : "not all released";
}

std::string commands::count_down(std::istream& words) {
  std::string name;
  std::int64_t count = 0, n = 1;
  words >> name >> count;
  if (!(words >> n)) n = 1;
  latch{db_, name, count}.count_down(n);
  return "counted";
}

std::string commands::await_latch(std::istream& words) {
  std::string name;
  std::int64_t count = 0;
  words >> name >> count;
  latch{db_, name, count}.wait();
  return "open";
}

std::string commands::arrive(std::istream& words) {
  std::string name;
  std::int64_t parties = 0;
  words >> name >> parties;
  return "complete " + std::to_string(barrier{db_, name, parties}.arrive_and_wait());
}

std::string commands::state() const {
  return std::string{held_.valid() ? "valid " : "invalid "} + to_string(held_.loss());
}

// Returns the reason, and when the stop token fired.
std::string commands::await_loss(std::chrono::milliseconds limit) const {
  std::mutex mutex;
  std::condition_variable fired;
  std::int64_t fired_at = 0;
  const std::stop_callback tell{held_.stop_token(), [&] {
                                  const std::lock_guard lock{mutex};
                                  fired_at = microseconds_since_1970();
                                  fired.notify_one();
                                }};
  std::unique_lock lock{mutex};
  if (!fired.wait_for(lock, limit, [&] { return fired_at != 0; })) return "kept";
  return std::string{to_string(held_.loss())} + ' ' + std::to_string(fired_at);
}

std::string commands::write() {
  if (!session_) session_ = sql_session::open(url_);
  ledger{*session_, settings_.prefix}.add_guarded(held_);
  return "written";
}

// Stops the process between its last check of the hold and the guard's statement, as a debugger may.
std::string commands::stop_before_guard() {
  if (!session_) session_ = sql_session::open(url_);
  const auto proof = held_.guard_statement();
  say("stopping");
  ::raise(SIGSTOP);
  session_->begin();
  const auto rows = session_->run(proof.sql, {proof.parameters[0], proof.parameters[1]});
  session_->run("ROLLBACK");
  return rows.empty() ? "refused" : "allowed";
}

std::string commands::start_load(std::istream& words) {
  load_plan plan;
  words >> plan.mode >> plan.threads >> plan.rounds;
  for (std::string name; words >> name && name != "and";) plan.names.push_back(name);
  plan.databases.push_back({db_, url_, settings_.prefix});
  // The rest of the line names the other members of a quorum.
  for (std::string url, prefix; words >> url >> prefix;) {
    auto settings = settings_;
    settings.prefix = prefix;
    plan.databases.push_back({connect(url, settings), url, prefix});
  }
  load_ = std::make_unique<load>(std::move(plan));
  return "loading";
}

// In the child: tries every call that must be refused, and then destroys everything that it has copied.
std::string commands::fork_child(const std::string& name) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = code_of([&] {
                           std::ignore = mutex{db_, name}.try_acquire();
                         }) == errc::forked &&
                         code_of([&] {
                           std::ignore = mutex{db_, name}.acquire();
                         }) == errc::forked &&
                         (!held_ || code_of([&] { held_.release(); }) == errc::forked) &&
                         code_of([&] { std::ignore = admin{db_}.list(); }) == errc::forked;
    // The parent uses the application's connection, too, and libpq would end it.
    static_cast<void>(session_.release());
    held_ = {};
    db_.close();
    this->~commands();
    std::exit(refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? "refused" : "child ended with status " + std::to_string(status);
}

// Starts a program that waits, and returns the descriptors that it has inherited, except the standard ones.
std::string commands::execute_program() {
  int input[2], output[2];
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execlp("sh", "sh", "-c", "echo; read -r line", nullptr);
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  char line_end = 0;
  static_cast<void>(::read(output[0], &line_end, 1));  // by then the program has loaded its libraries
  std::string found;
  for (const auto& [number, target] : descriptors_of(child)) {
    found += (found.empty() ? "" : " ") + std::to_string(number) + "=" + target;
  }
  ::close(output[0]);
  ::close(input[1]);
  ::waitpid(child, nullptr, 0);
  return line_end == '\n' ? found : "the program did not start";
}

}  // namespace rowlock::test
