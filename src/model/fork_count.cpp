#include "model/fork_count.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace rowlock::model {

namespace {

using number = std::atomic<std::uint64_t>;

// The latest number given out. A fork copies it, so a child gives out numbers that none of its ancestors had.
constinit number last{0};
// Where this process has its own number. A function cannot initialize it once under a lock of the compiler's, because
// a child that was forked meanwhile would wait for ever.
constinit std::atomic<number*> own{nullptr};
// `own` points here if the kernel has no page as new_page() makes it.
constinit number none{0};

// Makes a page that the kernel fills with zeros in a forked child, however the child was forked (madvise(2),
// MADV_WIPEONFORK).
number* new_page() noexcept {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &none;
  // An emulator (user-mode QEMU) may claim success for every madvise(), even for one that no kernel knows.
  const bool answers_truly = ::madvise(page, size, -1) != 0;
  if (answers_truly && ::madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) number{0};
  ::munmap(page, size);
  return &none;
}

number& own_number() noexcept {
  if (auto* const known = own.load(std::memory_order_acquire)) return *known;
  auto* const made = new_page();
  number* first = nullptr;
  if (own.compare_exchange_strong(first, made)) return *made;
  if (made != &none) ::munmap(made, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  return *first;
}

}  // namespace

std::uint64_t fork_count() noexcept {
  auto& mine = own_number();
  if (&mine == &none) return static_cast<std::uint64_t>(::getpid());
  auto known = mine.load(std::memory_order_acquire);
  if (known != 0) return known;
  // The first call of this process, perhaps by several threads. Some numbers may stay unused.
  const auto next = last.fetch_add(1) + 1;
  return mine.compare_exchange_strong(known, next) ? next : known;
}

}  // namespace rowlock::model
