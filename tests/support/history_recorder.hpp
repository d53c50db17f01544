// Writes a process's calls and their results as a history for rowlock-check, one line of JSON for each event.
//
// Thread safety: all members may be called from any thread at once.
#pragma once

#include <rowlock/admin.hpp>
#include <rowlock/hold.hpp>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

namespace rowlock::test {

class history_recorder {
 public:
  using json = nlohmann::json;

  // The recorder's file belongs to this process. ttl: that of the client's lease.
  history_recorder(const std::string& folder, std::chrono::milliseconds ttl)
      : ttl_{ttl},
        process_{std::to_string(::getpid())},
        file_{folder + "/" + process_ + ".jsonl", std::ios::app} {}

  // Call it before acquire(). Returns the number of the call, for granted() or failed().
  std::int64_t requests(const std::string& name, const std::string& actor, std::int64_t weight = 1,
                        std::int64_t capacity = 1) {
    const auto call = ++calls_;
    write({{"event", "invoke"},
           {"op", "acquire"},
           {"name", name},
           {"actor", actor},
           {"call", call},
           {"weight", weight},
           {"capacity", capacity}});
    return call;
  }
  // Returns the time that was written.
  std::int64_t granted(const hold& held, const std::string& actor, std::int64_t call,
                       std::int64_t capacity = 1) {
    const auto at = now();
    write({{"event", "ok"},
           {"op", "acquire"},
           {"name", held.name()},
           {"actor", actor},
           {"call", call},
           {"hold", held.id().to_string()},
           {"token", held.token().value()},
           {"weight", held.weight()},
           {"capacity", capacity}},
          at);
    return at;
  }
  void failed(const std::string& name, const std::string& actor, std::int64_t call) {
    write({{"event", "fail"}, {"op", "acquire"}, {"name", name}, {"actor", actor}, {"call", call}});
  }

  // Writes when the release begins and what its result was. A process that may be stopped at any moment passes
  // when the hold was last known to be valid, because it may have been lost since.
  release_result releases(hold& held, const std::string& actor, std::optional<std::int64_t> valid_at = {}) {
    const json about{
        {"op", "release"}, {"name", held.name()}, {"actor", actor}, {"hold", held.id().to_string()}};
    note("invoke", about, valid_at.value_or(now()));
    const auto result = held.release();
    if (result == release_result::released) note("ok", about, now());
    if (result == release_result::lost) {
      auto loss = about;
      loss["op"] = "loss";
      loss["reason"] = to_string(held.loss());
      note("lost", loss, valid_at.value_or(now()));
    }
    return result;
  }

  // Records something else that happened. No rule reads it.
  void notes(const std::string& op, const std::string& name, const std::string& reason = "") {
    write({{"event", "info"}, {"op", op}, {"name", name}, {"reason", reason}});
  }
  void notes(const std::string& op, const hold& held) {
    write({{"event", "info"},
           {"op", op},
           {"name", held.name()},
           {"hold", held.id().to_string()},
           {"token", held.token().value()}});
  }

  // CLOCK_BOOTTIME in nanoseconds.
  static std::int64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }

  // Records what the database shows. A holder that calls it records the tickets of the waiters.
  void state(admin& database, const std::string& name) {
    const auto since = now();
    const auto shown = database.show(name);
    const auto queue = database.queue(name);
    const auto until = now();
    for (const auto& waiter : queue) {
      write({{"event", "info"},
             {"op", "queue"},
             {"name", name},
             {"hold", waiter.hold_id.to_string()},
             {"ticket", waiter.ticket}});
    }
    if (!shown) return;
    json holders = json::array();
    json waiters = json::array();
    for (const auto& holder : shown->holders) holders.push_back(holder.hold_id.to_string());
    for (const auto& waiter : queue) waiters.push_back(waiter.hold_id.to_string());
    write({{"event", "info"},
           {"op", "state"},
           {"name", name},
           {"since_ns", since},
           {"holders", holders},
           {"waiters", waiters}},
          until);
  }

 private:
  void note(const char* kind, json line, std::int64_t at) {
    line["event"] = kind;
    write(std::move(line), at);
  }

  void write(json line, std::int64_t at = now()) {
    line["boot_ns"] = at;
    line["process"] = process_;
    line["ttl_ms"] = ttl_.count();
    const auto wall = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds{1};
    line["wall"] = std::to_string(wall);
    const std::lock_guard lock{mutex_};
    file_ << line.dump() + '\n' << std::flush;
  }

  const std::chrono::milliseconds ttl_;
  const std::string process_;
  std::atomic<std::int64_t> calls_{0};
  std::mutex mutex_;
  std::ofstream file_;
};

}  // namespace rowlock::test
