// Faults of a memory server, planned before they happen, and a count of its calls by verb.
#pragma once

#include "memory/memory_server.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace rowlock::test {

// Thread-safe. Lives as long as any call that it may affect, even after the test has ended.
class fault_plan : public std::enable_shared_from_this<fault_plan> {
 public:
  // Uses the server's only hook until detach().
  static std::shared_ptr<fault_plan> of(std::shared_ptr<store::memory_server> server);
  // Ends all faults; a call that hangs continues.
  void detach();
  fault_plan(const fault_plan&) = delete;
  fault_plan& operator=(const fault_plan&) = delete;

  // Each of the following plans faults for calls that begin after it: an answer that is on its way stays as it is.

  // The next calls of the verb break their connection, either before anything happens or with the answer lost.
  void lose_request(const std::string& verb, int times = 1) { plan(verb, kind::lose_request, times); }
  void lose_answer(const std::string& verb, int times = 1) { plan(verb, kind::lose_answer, times); }
  // The next calls are refused with a contention error.
  void refuse(const std::string& verb, int times = 1) { plan(verb, kind::refuse, times); }
  // The next calls are refused permanently, as if a privilege were missing.
  void deny(const std::string& verb, int times = 1) { plan(verb, kind::deny, times); }
  // skip: how many calls are left alone first.
  void refuse_read_only(const std::string& verb, int times = 1) { plan(verb, kind::read_only, times); }
  void refuse_unreachable(const std::string& verb, int times = 1, int skip = 0) {
    plan(verb, kind::unreachable, times, skip);
  }
  // The next calls hang until memory_server::unblock(), either before anything happens or before the answer.
  // skip: how many calls are left alone first.
  void hang(const std::string& verb, int skip = 0) { plan(verb, kind::hang, 1, skip); }
  void hang_answer(const std::string& verb, int skip = 0) { plan(verb, kind::hang_answer, 1, skip); }
  // The next calls are executed only by memory_server::run_ghosts(), after their caller has given up.
  void leave_ghost(const std::string& verb, int times = 1) { plan(verb, kind::ghost, times); }
  void forget();  // drops the faults that have not happened

  // No call reaches the server, and nobody can connect.
  void cut(bool unreachable) { cut_.store(unreachable); }
  // As cut(true), after this many moments. A call has two: before anything happens, and before its answer.
  void cut_after(int moments) { moments_left_.store(moments); }

  int count(const std::string& verb) const;  // how often the verb was called

 private:
  explicit fault_plan(std::shared_ptr<store::memory_server> server) : server_(std::move(server)) {}

  enum class kind {
    read_only,
    unreachable,
    lose_request,
    lose_answer,
    refuse,
    deny,
    hang,
    hang_answer,
    ghost
  };

  struct fault {
    int skip = 0;
    int times = 0;
    std::uint64_t from = 0;  // the number of the first call that began after the plan
  };

  void plan(const std::string& verb, kind what, int times, int skip = 0);
  bool due(const store::memory_call& call, kind what);
  void on_call(store::memory_call& call);

  std::shared_ptr<store::memory_server> server_;
  std::atomic<bool> cut_{false};
  std::atomic<int> moments_left_{std::numeric_limits<int>::max()};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, kind>, fault> planned_;
  std::map<std::string, int> counts_;
  std::uint64_t begun_ = 0;  // how many calls have begun
};

}  // namespace rowlock::test
