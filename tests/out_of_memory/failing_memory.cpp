#include "out_of_memory/failing_memory.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace rowlock::test {

namespace {

enum class whose { nobody, one_thread, named_threads };

std::atomic<whose> chosen{whose::nobody};
std::atomic<std::int64_t> left{0};
std::atomic<bool> has_failed{false};
std::atomic<bool> lasts{false};
std::atomic<unsigned> moment{1};
// The name is written only while no allocations fail.
char chosen_name[16] = {};
unsigned chosen_since = 0;

constinit thread_local unsigned born = 0;
constinit thread_local bool is_chosen = false;
constinit thread_local bool is_spared = false;

bool is_meant() {
  const auto who = chosen.load();
  if (who == whose::nobody || is_spared) return false;
  if (who == whose::one_thread) return is_chosen;
  if (born < chosen_since) return false;
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  return std::strncmp(name, chosen_name, sizeof name) == 0;
}

bool fails() {
  if (born == 0) born = moment.load();
  if (!is_meant()) return false;
  const auto before = left.fetch_sub(1);
  if (lasts.load() ? before > 0 : before != 0) return false;
  has_failed.store(true);
  return true;
}

void begin(whose who, std::uint64_t number, failing_memory::shortage how) {
  left.store(static_cast<std::int64_t>(number));
  lasts.store(how == failing_memory::shortage::lasting);
  has_failed.store(false);
  chosen.store(who);
}

}  // namespace

failing_memory::failing_memory(std::uint64_t number, shortage how) {
  is_chosen = true;
  begin(whose::one_thread, number, how);
}

failing_memory::failing_memory(std::uint64_t number, std::string_view thread, unsigned since, shortage how) {
  std::memset(chosen_name, 0, sizeof chosen_name);
  std::memcpy(chosen_name, thread.data(), std::min(thread.size(), sizeof chosen_name - 1));
  chosen_since = since;
  begin(whose::named_threads, number, how);
}

failing_memory::~failing_memory() {
  stop();
}

unsigned failing_memory::now() {
  return ++moment;
}

bool failing_memory::stop() {
  chosen.store(whose::nobody);
  is_chosen = false;
  return has_failed.load();
}

void failing_memory::spare(bool spared) {
  is_spared = spared;
}

namespace {

void* allocate(std::size_t size) noexcept {
  return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

}  // namespace

}  // namespace rowlock::test

#pragma GCC visibility push(default)

void* operator new(std::size_t size) {
  if (void* made = rowlock::test::allocate(size)) return made;
  throw std::bad_alloc{};
}
void* operator new[](std::size_t size) {
  return ::operator new(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return rowlock::test::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return rowlock::test::allocate(size);
}
void operator delete(void* made) noexcept {
  std::free(made);
}
void operator delete[](void* made) noexcept {
  std::free(made);
}
void operator delete(void* made, std::size_t) noexcept {
  std::free(made);
}
void operator delete[](void* made, std::size_t) noexcept {
  std::free(made);
}

#pragma GCC visibility pop
