#include "simulator/scheduler.hpp"

#include "simulator/native.hpp"

#include <fmt/format.h>

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace rowlock::simulator {

struct thread_record {
  enum class state { runnable, blocked, finished };

  int id = 0;
  process* home = nullptr;
  std::string name;
  state is = state::runnable;
  const void* waits_on = nullptr;
  nanoseconds until = never;
  bool notified = false;
  std::uint64_t priority = 0;
  int in_server = 0;  // how many of the server's mutexes the thread has locked
  int keeps_turn = 0;
  const process* clock_of = nullptr;
  std::atomic<int> turn{0};
  pthread_t native{};
  void* (*body)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
};

namespace {

thread_local thread_record* self = nullptr;

void sleep_until_turn(thread_record& mine) {
  while (mine.turn.load(std::memory_order_acquire) == 0) {
    native_syscall(SYS_futex, reinterpret_cast<long>(&mine.turn), FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
  }
  mine.turn.store(0, std::memory_order_relaxed);
}

void give_turn(thread_record& next) {
  next.turn.store(1, std::memory_order_release);
  native_syscall(SYS_futex, reinterpret_cast<long>(&next.turn), FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

constexpr nanoseconds cost_of_switch = microsecond;
constexpr nanoseconds cost_of_reading = 20;
constexpr int first_pid = 1000;
constexpr std::uint64_t points_at_most = 5'000'000;
constexpr std::uint64_t switches_at_most = 2'000'000;

}  // namespace

scheduler* scheduler::active_ = nullptr;

// The destructors of a thread's other thread_local objects run before this one's, so they still have the turn.
struct thread_end {
  thread_record* record = nullptr;
  ~thread_end() {
    if (record != nullptr && scheduler::active_ != nullptr) scheduler::active_->finish(*record);
  }
};

scheduler::scheduler(std::uint64_t seed, const scheduling& how,
                     std::function<void(const std::string&)> failed)
    : how_(how), failed_(std::move(failed)), order_(seed, 1), entropy_(seed, 2) {
  until_switch_ = 1 + order_.below(2 * how_.points_per_switch);
  until_delay_ = how_.points_per_delay == 0 ? 0 : 1 + order_.below(2 * how_.points_per_delay);
  auto first = std::make_unique<thread_record>();
  first->home = &add_process();
  first->name = "nature";
  first->priority = order_.next();
  first->native = ::pthread_self();
  alive_.push_back(first.get());
  self = first.get();
  threads_.push_back(std::move(first));
  active_ = this;
}

scheduler::~scheduler() {
  active_ = nullptr;
  self = nullptr;
}

uninterrupted::uninterrupted() noexcept {
  ++self->keeps_turn;
}

uninterrupted::~uninterrupted() {
  --self->keeps_turn;
}

process& scheduler::add_process() {
  processes_.push_back(std::make_unique<process>());
  processes_.back()->id = static_cast<int>(processes_.size()) - 1;
  return *processes_.back();
}

process& scheduler::home() const noexcept {
  return *self->home;
}

void scheduler::move_to(process& other) noexcept {
  self->home = &other;
}

void scheduler::stall(process& whom, nanoseconds length) {
  const nanoseconds from = std::max(whom.stalled_until, now_);
  whom.stalled_until = std::max(whom.stalled_until, now_ + length);
  whom.stalled_in_total += whom.stalled_until - from;
}

void scheduler::kill(process& whom) noexcept {
  whom.dead = true;
}

int scheduler::threads_of(const process& whom) const {
  return static_cast<int>(
      std::count_if(alive_.begin(), alive_.end(), [&](auto* one) { return one->home == &whom; }));
}

std::string scheduler::describe() const {
  std::string text;
  for (const auto* one : alive_) {
    if (one->home->dead) continue;
    text += fmt::format("  process {} thread {} {}: {}", one->home->id, one->id, one->name,
                        one->is == thread_record::state::runnable ? "can run" : "waits");
    if (one->is == thread_record::state::blocked && one->until != never) {
      text += fmt::format(" for {} ms more", (one->until - now_) / millisecond);
    }
    text += "\n";
  }
  return text;
}

void scheduler::add_server(const void* first, const void* last) {
  servers_.emplace_back(first, last);
}

void scheduler::read_clock_of(const process* other) noexcept {
  self->clock_of = other;
}

void scheduler::note(std::uint64_t value) noexcept {
  hash_ = (hash_ ^ value) * 1099511628211U;
  hash_ ^= hash_ >> 29;
}

void scheduler::note(std::string_view text) noexcept {
  for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
}

void scheduler::calm_down() noexcept {
  how_.points_per_delay = 0;
  how_.waits_per_spurious = 0;
}

// ---- the turn ----

bool scheduler::may_run(const thread_record& one) const {
  return one.is == thread_record::state::runnable && !one.home->dead && one.home->stalled_until <= now_;
}

thread_record& scheduler::choose() {
  for (;;) {
    std::size_t many = 0;
    thread_record* urgent = nullptr;
    nanoseconds next = never;
    for (auto* one : alive_) {
      if (one->home->dead) continue;
      if (one->is == thread_record::state::blocked && one->until <= now_) {
        one->is = thread_record::state::runnable;
        one->notified = false;
      }
      if (may_run(*one)) {
        ++many;
        if (urgent == nullptr || one->priority > urgent->priority) urgent = one;
      } else if (one->is == thread_record::state::runnable) {
        next = std::min(next, one->home->stalled_until);
      } else {
        next = std::min(next, one->until == never ? never : std::max(one->until, one->home->stalled_until));
      }
    }
    if (many == 0) {
      if (next == never) failed_("deadlock: no thread can run, and none waits for a time\n" + describe());
      now_ = std::max(now_, next);
      continue;
    }
    if (how_.by_priority) {
      if (order_.one_in(16)) urgent->priority = order_.next() >> 1;
      return *urgent;
    }
    auto which = order_.below(many);
    for (auto* one : alive_) {
      if (may_run(*one) && which-- == 0) return *one;
    }
  }
}

void scheduler::pass_turn() {
  now_ += cost_of_switch;
  if (++switches_ > switches_at_most) failed_("the run does not come to an end\n" + describe());
  thread_record& next = choose();
  note(static_cast<std::uint64_t>(next.id) ^ static_cast<std::uint64_t>(now_));
  if (&next == self) return;
  thread_record& mine = *self;
  give_turn(next);
  sleep_until_turn(mine);
}

void scheduler::point() {
  if (self->in_server > 0 || self->keeps_turn > 0) return;
  if (++points_ > points_at_most) failed_("the run does not come to an end\n" + describe());
  if (how_.points_per_delay != 0 && self->home->id != 0 && --until_delay_ == 0) {
    until_delay_ = 1 + order_.below(2 * how_.points_per_delay);
    ++delays_;
    const auto length = static_cast<std::uint64_t>(how_.longest_delay);
    sleep_until(now_ + static_cast<nanoseconds>(order_.below(1 + (length >> order_.below(12)))));
    return;
  }
  if (--until_switch_ > 0) return;
  until_switch_ = 1 + order_.below(2 * how_.points_per_switch);
  pass_turn();
}

void scheduler::finish(thread_record& ended) {
  ended.is = thread_record::state::finished;
  std::erase(alive_, &ended);
  wake(&ended, INT_MAX);
  ++switches_;
  give_turn(choose());
}

// ---- mutexes ----

void scheduler::take(pthread_mutex_t* mutex) {
  mutex->__data.__lock = 1;
  mutex->__data.__owner = self->id + 1;
  if (is_server(mutex)) ++self->in_server;
}

void scheduler::give(pthread_mutex_t* mutex) {
  mutex->__data.__lock = 0;
  mutex->__data.__owner = 0;
  if (is_server(mutex)) --self->in_server;
  for (auto* one : alive_) {
    if (one->is == thread_record::state::blocked && one->waits_on == mutex) {
      one->is = thread_record::state::runnable;
      one->notified = true;
    }
  }
}

void scheduler::lock(pthread_mutex_t* mutex) {
  point();
  while (mutex->__data.__lock != 0) {
    if (mutex->__data.__owner == self->id + 1)
      failed_("a thread locks a mutex that it has locked\n" + describe());
    self->is = thread_record::state::blocked;
    self->waits_on = mutex;
    self->until = never;
    pass_turn();
  }
  take(mutex);
}

bool scheduler::try_lock(pthread_mutex_t* mutex) {
  point();
  if (mutex->__data.__lock != 0) return false;
  take(mutex);
  return true;
}

void scheduler::unlock(pthread_mutex_t* mutex) {
  give(mutex);
  point();
}

// ---- waiting ----

bool scheduler::wait(const void* on, pthread_mutex_t* mutex, nanoseconds until) {
  if (mutex != nullptr) give(mutex);
  if (how_.waits_per_spurious != 0 && order_.one_in(how_.waits_per_spurious)) {
    ++spurious_;
    until = std::min(until, now_ + static_cast<nanoseconds>(order_.below(50 * millisecond)));
  }
  self->is = thread_record::state::blocked;
  self->waits_on = on;
  self->until = until;
  self->notified = false;
  pass_turn();
  const bool notified = self->notified;
  self->waits_on = nullptr;
  if (mutex != nullptr) {
    while (mutex->__data.__lock != 0) {
      self->is = thread_record::state::blocked;
      self->waits_on = mutex;
      self->until = never;
      pass_turn();
    }
    take(mutex);
  }
  return notified;
}

int scheduler::wake(const void* on, int most) {
  int woken = 0;
  while (woken < most) {
    std::size_t many = 0;
    for (auto* one : alive_) {
      many += one->is == thread_record::state::blocked && one->waits_on == on ? 1 : 0;
    }
    if (many == 0) break;
    auto which = most == 1 ? order_.below(many) : 0;
    for (auto* one : alive_) {
      if (one->is != thread_record::state::blocked || one->waits_on != on || which-- != 0) continue;
      one->is = thread_record::state::runnable;
      one->notified = true;
      one->waits_on = nullptr;
      ++woken;
      break;
    }
  }
  return woken;
}

int scheduler::notify(const void* on, int most) {
  const int woken = wake(on, most);
  point();
  return woken;
}

void scheduler::sleep_until(nanoseconds until) {
  self->is = thread_record::state::blocked;
  self->waits_on = nullptr;
  self->until = std::max(until, now_);
  pass_turn();
}

void scheduler::yield() {
  self->priority = order_.next() >> 8;
  pass_turn();
}

// ---- threads ----

void* scheduler::run_thread(void* given) {
  auto& record = *static_cast<thread_record*>(given);
  sleep_until_turn(record);
  self = &record;
  thread_local thread_end end;
  end.record = &record;
  record.result = record.body(record.argument);
  return record.result;
}

int scheduler::create(pthread_t* made, const pthread_attr_t*, void* (*body)(void*), void* argument) {
  auto record = std::make_unique<thread_record>();
  record->id = static_cast<int>(threads_.size());
  record->home = self->home;
  record->name = "user";
  record->body = body;
  record->argument = argument;
  record->priority = order_.next();
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 512 << 10);
  const int failed = native_create(&record->native, &small, &scheduler::run_thread, record.get());
  ::pthread_attr_destroy(&small);
  if (failed != 0) return failed;
  *made = record->native;
  alive_.push_back(record.get());
  threads_.push_back(std::move(record));
  point();
  return 0;
}

int scheduler::join(pthread_t whom, void** result) {
  // The system may reuse a handle, so the handle means the latest thread that had it.
  for (std::size_t i = threads_.size(); i-- > 0;) {
    thread_record& one = *threads_[i];
    if (!::pthread_equal(one.native, whom)) continue;
    while (one.is != thread_record::state::finished) wait(&one, nullptr, never);
    break;
  }
  return native_join(whom, result);
}

void scheduler::name(pthread_t whom, const char* name) {
  for (std::size_t i = threads_.size(); i-- > 0;) {
    if (!::pthread_equal(threads_[i]->native, whom)) continue;
    threads_[i]->name = name;
    return;
  }
}

// ---- clocks and randomness ----

nanoseconds scheduler::read_clock() {
  now_ += cost_of_reading;
  if (self->clock_of != nullptr) return self->clock_of->clock.reading(now_);
  return self->home->clock.reading(now_);
}

nanoseconds scheduler::real_time() {
  constexpr nanoseconds begin = 1'782'864'000 * second;  // 2026-07-01
  return begin + read_clock();
}

nanoseconds scheduler::true_time(nanoseconds reading) const {
  return self->home->clock.true_time(reading);
}

void scheduler::draw(void* bytes, std::size_t size) {
  auto* to = static_cast<char*>(bytes);
  for (std::size_t done = 0; done < size; done += sizeof(std::uint64_t)) {
    const std::uint64_t word = entropy_.next();
    std::memcpy(to + done, &word, std::min(sizeof word, size - done));
  }
}

int scheduler::pid() const noexcept {
  return first_pid + self->home->id;
}

const process* scheduler::process_of(std::int64_t pid) const noexcept {
  const auto which = static_cast<std::size_t>(pid - first_pid);
  return which < processes_.size() ? processes_[which].get() : nullptr;
}

bool scheduler::is_alive(int pid) const noexcept {
  const auto* which = process_of(pid);
  return which != nullptr && !which->dead;
}

}  // namespace rowlock::simulator
