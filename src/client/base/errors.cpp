#include "client/base/errors.hpp"

#include <fmt/format.h>

namespace rowlock::client_layer {

namespace {

std::string described(const model::lock_definition& lock) {
  const std::string what{to_string(lock.kind)};
  const auto kind = !lock.fair ? "an unfair " + what : (what.starts_with('e') ? "an " : "a ") + what;
  // The usual capacity of the kinds whose users never see the capacity. The text names only an unusual one.
  const auto usual = lock.kind == model::lock_kind::shared_mutex ? model::shared_mutex_capacity : 1;
  switch (lock.kind) {
    case model::lock_kind::semaphore: return fmt::format("{} with {} permits", kind, lock.capacity);
    case model::lock_kind::latch: return fmt::format("{} that counts {}", kind, lock.capacity);
    case model::lock_kind::barrier: return fmt::format("{} of {} members", kind, lock.capacity);
    default: return lock.capacity == usual ? kind : fmt::format("{} of capacity {}", kind, lock.capacity);
  }
}

}  // namespace

error copy_of(const error& failure, bool in_doubt) {
  return {failure.kind(), failure.what(), failure.database_code(), failure.outcome_unknown() || in_doubt};
}

error copy_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const error& known) {
    return copy_of(known);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& unknown) {
    return {errc::internal, unknown.what()};
  }
}

const char* thrown_text(const std::exception_ptr& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "something that is not a std::exception";
  }
}

bool is_temporary(const error& failure) {
  return failure.code() == errc::unreachable || failure.code() == errc::contention ||
         failure.code() == errc::read_only;
}

error closed_client() {
  return {errc::closed, "the client is closed; make a new one with rowlock::connect"};
}

error closed_during_wait() {
  return {errc::closed, "the client was closed during the wait"};
}

error mismatch(const model::lock_definition& asked, const model::lock_definition& stored) {
  return {errc::mismatch,
          fmt::format("\"{}\" is stored as {}, but was requested as {}: use it as it is stored, or "
                      "another name",
                      asked.name, described(stored), described(asked))};
}

error hold_is_over(const std::string& name) {
  return {errc::hold_lost, "the hold of \"" + name + "\" is over"};
}

error no_answer(std::chrono::nanoseconds within) {
  return {errc::unreachable,
          fmt::format("the database did not answer within {} ms",
                      std::chrono::duration_cast<std::chrono::milliseconds>(within).count())};
}

error broken(const std::string& name) {
  return {errc::broken_barrier,
          "a member of this generation of \"" + name +
              "\" died or gave up before all had arrived; decide what to do, and arrive "
              "again"};
}

error row_is_locked(const std::string& name, std::chrono::milliseconds since) {
  return {errc::contention,
          fmt::format(
              "\"{}\" could be granted, but another transaction has kept its row locked for {} ms: end that "
              "transaction, or wait for it",
              name, since.count())};
}

}  // namespace rowlock::client_layer
