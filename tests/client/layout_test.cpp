// The memory layout that a patch release must not change, because programs are not compiled again for it
// (docs/upgrading.md, "The binary interface"). If a static_assert fails, the change belongs in the next minor version:
// raise the version, and with it the name of the namespace (rowlock/config.hpp); then change the number here.
// tests/package/run checks the functions.
#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

namespace rowlock::test {
namespace {

#if defined(__GLIBCXX__) && defined(__LP64__)

template <class Public, std::size_t size, std::size_t alignment = 8>
constexpr bool is_laid_out = sizeof(Public) == size && alignof(Public) == alignment;

// The types that programs pass to rowlock.
static_assert(is_laid_out<options, 320> && is_laid_out<lock_options, 16> &&
              is_laid_out<acquire_options, 40> && is_laid_out<quorum_options, 48> &&
              is_laid_out<release_request_options, 56> && is_laid_out<candidate_options, 144> &&
              is_laid_out<recording, 48> && is_laid_out<rowlock::task, 8> && is_laid_out<time_limit, 8> &&
              is_laid_out<time_span, 8>);

// The types that programs get from rowlock.
static_assert(is_laid_out<holder_info, 256> && is_laid_out<waiter_info, 216> && is_laid_out<lock_info, 152> &&
              is_laid_out<history_line, 240> && is_laid_out<stuck_waiter, 248> &&
              is_laid_out<sweep_result, 16> && is_laid_out<participant, 144> &&
              is_laid_out<leadership, 120> && is_laid_out<statistics, 400> &&
              is_laid_out<duration_histogram, 136> && is_laid_out<hold_event, 144> &&
              is_laid_out<release_request, 40> && is_laid_out<guard_statement, 88> &&
              is_laid_out<finding, 136> && is_laid_out<migration, 136> && is_laid_out<migration_status, 80>);
static_assert(is_laid_out<acquired, 104> && is_laid_out<acquired_all, 88> && is_laid_out<arrived, 80> &&
              is_laid_out<waited, 72> && is_laid_out<error, 56>);
static_assert(is_laid_out<hold_id, 16> && is_laid_out<lease_id, 16> && is_laid_out<fencing_token, 8>);

// Classes with members of their own.
static_assert(is_laid_out<hold, 40> && is_laid_out<hold_set, 24> && is_laid_out<quorum_hold, 8> &&
              is_laid_out<term, 40> && is_laid_out<client, 16> && is_laid_out<wanted, 32> &&
              is_laid_out<candidate, 32> && is_laid_out<admin, 16>);
static_assert(is_laid_out<awaited_acquire, 48> && is_laid_out<awaited_wait, 48> &&
              is_laid_out<awaited_release, 96> && is_laid_out<awaited_acquire_all, 48> &&
              is_laid_out<awaited_arrival, 48> && is_laid_out<awaited_timed_arrival, 48>);

// The other classes only contain a pointer to their implementation.
template <class... Classes>
constexpr bool are_pointers = (is_laid_out<Classes, sizeof(void*)> && ...);
static_assert(are_pointers<mutex, recursive_mutex, shared_mutex, recursive_shared_mutex, counting_semaphore,
                           latch, barrier, election, quorum_mutex, migrator>);

#endif

TEST(layout_test, each_minor_version_before_1_0_has_a_namespace_of_its_own) {
  const auto name = "v" + std::to_string(ROWLOCK_VERSION_MAJOR) +
                    (ROWLOCK_VERSION_MAJOR == 0 ? "_" + std::to_string(ROWLOCK_VERSION_MINOR) : "");
  EXPECT_THAT(typeid(error).name(), testing::HasSubstr(std::to_string(name.size()) + name));
}

}  // namespace
}  // namespace rowlock::test
