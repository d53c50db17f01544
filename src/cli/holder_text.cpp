#include "cli/holder_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace rowlock::cli {

bool rests(const holder_info& holder) {
  return holder.rests;
}

bool is_expired(const holder_info& holder) {
  return holder.expires_in < std::chrono::milliseconds{0};
}

bool is_held_by_the_dead(const lock_info& lock) {
  return lock.in_use > 0 && lock.holders.empty() && lock.kind != lock_kind::latch &&
         lock.kind != lock_kind::barrier && lock.kind != lock_kind::unknown;
}

std::string who_text(const std::string& user, const std::string& host, std::int64_t pid,
                     const std::string& application, const std::string& command) {
  const bool says_more = !command.empty() && command != application;
  return fmt::format("{}{}{}:{} {}{}{}", user, user.empty() ? "" : "@", host, pid, application,
                     says_more ? ": " : "", says_more ? command : "");
}

std::string holder_text(const holder_info& holder) {
  if (rests(holder)) return "(rests)";
  return who_text(holder.user, holder.host, holder.pid, holder.application, holder.command) +
         (is_expired(holder) ? " (expired)" : "");
}

std::string time_text(std::chrono::milliseconds from_now) {
  const auto then = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() + from_now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

}  // namespace rowlock::cli
