// Requests that wait at a `rowlock serve` of the scenario's own: what they cost, and how soon the next one is answered.
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/serve_process.hpp"

#include <rowlock/async.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <poll.h>
#include <sys/resource.h>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

constexpr int most_names = 100;
constexpr const char* asks = R"({"ttl_ms":3600000,"wait_ms":3600000})";

void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void until_queued(const rowlock::client& client, const std::string& stem, int count) {
  const auto give_up = std::chrono::steady_clock::now() + 300s;
  for (;;) {
    std::int64_t waiting = 0;
    for (const auto& lock : rowlock::admin{client}.list()) {
      if (lock.name.starts_with(stem)) waiting += lock.waiters;
    }
    if (waiting == count) return;
    if (std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error(fmt::format("only {} of {} requests wait", waiting, count));
    }
    std::this_thread::sleep_for(50ms);
  }
}

// Each of the names is held by one of the connections, and the others wait.
class http_crowd {
 public:
  http_crowd(const serve_process& server, int names, int count)
      : names_{static_cast<std::size_t>(names)}, lines_(names_) {
    for (int i = 0; i < names + count; ++i) {
      auto& line = lines_[static_cast<std::size_t>(i % names)];
      line.push_back({std::make_unique<http_connection>(server), next_hold(i % names)});
      line.back().connection->send("PUT " + line.back().hold, asks);
      if (i < names) line.back().connection->read();
    }
  }

  // From a release until the next one has the answer. The one that released waits at the end then.
  double hand_over_ms(std::size_t name) {
    auto& line = lines_[name % names_];
    const auto begun = monotonic_ns();
    line.front().connection->send("DELETE " + line.front().hold);
    auto next = until_answered(line);
    const auto took = static_cast<double>(monotonic_ns() - begun) / 1e6;
    next->connection->read();
    auto left = std::move(line.front());
    left.connection->read();
    std::swap(*next, line[1]);  // requests that were sent at once may stand in another order
    line.pop_front();
    left.hold = next_hold(static_cast<int>(name % names_));
    left.connection->send("PUT " + left.hold, asks);
    line.push_back(std::move(left));
    return took;
  }

 private:
  struct place {
    std::unique_ptr<http_connection> connection;
    std::string hold;
  };
  static std::deque<place>::iterator until_answered(std::deque<place>& line) {
    std::vector<pollfd> watched;
    for (std::size_t i = 1; i < line.size(); ++i) {
      watched.push_back({line[i].connection->descriptor(), POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), 60'000) <= 0) {
      throw std::runtime_error("nobody was granted a lock that was released a minute ago");
    }
    const auto found = std::ranges::find_if(watched, [](const pollfd& one) { return one.revents != 0; });
    return line.begin() + 1 + (found - watched.begin());
  }

  const std::size_t names_;
  std::vector<std::deque<place>> lines_;
};

// The same in the library, without a thread for each wait either.
class library_crowd {
 public:
  library_crowd(const plan& plan, int names, int count) : client_{rowlock::connect(plan.url, plan.settings)} {
    for (int i = 0; i < names; ++i) lines_.emplace_back(client_, fmt::format("bench/waits/{}", i));
    for (auto& line : lines_) line.held = line.lock.acquire();
    for (int i = 0; i < count; ++i) wait(static_cast<std::size_t>(i));
  }
  ~library_crowd() {
    ends_.request_stop();
    for (auto& line : lines_) line.held.release();
    client_.close();
  }
  library_crowd(const library_crowd&) = delete;
  library_crowd& operator=(const library_crowd&) = delete;

  const rowlock::client& client() const { return client_; }
  double hand_over_ms(std::size_t name) {
    auto& line = lines_[name % lines_.size()];
    const auto begun = monotonic_ns();
    require_released(line.held.release());
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, 60s, [&] { return line.next.valid(); })) {
      throw std::runtime_error("nobody was granted a lock that was released a minute ago");
    }
    line.held = std::move(line.next);
    const auto took = static_cast<double>(line.granted_at - begun) / 1e6;
    lock.unlock();
    wait(name);
    return took;
  }

 private:
  struct waited_lock {
    waited_lock(const rowlock::client& client, const std::string& name) : lock{client, name} {}
    rowlock::mutex lock;
    rowlock::hold held{};
    rowlock::hold next{};
    std::int64_t granted_at = 0;
  };
  void wait(std::size_t name) {
    auto& line = lines_[name % lines_.size()];
    acquire_async([](rowlock::task next) { next(); }, line.lock,
                  [this, &line](rowlock::acquired got) {
                    const auto at = monotonic_ns();
                    if (!got) return;
                    const std::lock_guard lock{mutex_};
                    line.next = std::move(got.hold);
                    line.granted_at = at;
                    changed_.notify_one();
                  },
                  options_);
  }

  rowlock::client client_;
  std::stop_source ends_;
  const rowlock::acquire_options options_ = [this] {
    rowlock::acquire_options made;
    made.stop = ends_.get_token();
    return made;
  }();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<waited_lock> lines_;
};

// Nobody else releases the holds of clients that have gone, also those of an earlier run.
class freed_names {
 public:
  freed_names(const plan& plan, int names)
      : admin_{rowlock::connect(plan.url, plan.settings)}, names_{names} {
    free();
  }
  ~freed_names() {
    try {
      free();
    } catch (const rowlock::error&) {
      // They end with their ttl.
    }
  }
  freed_names(const freed_names&) = delete;
  freed_names& operator=(const freed_names&) = delete;

 private:
  void free() {
    for (int i = 0; i < names_; ++i) admin_.release(fmt::format("bench/http/{}", i));
  }

  rowlock::admin admin_;
  const int names_;
};

result measure_waits(const plan& plan, int names, int count) {
  const auto slice = plan.slice.value_or(5s);
  // One address may have a quarter of all connections.
  const auto connections = std::to_string(4 * (count + names + 100));
  const serve_process server{plan, {"--metrics-every", "0", "--connections", connections}};
  const auto first = next_hold(0);
  for (const auto* method : {"PUT ", "DELETE "})
    http_connection{server}.ask(method + first, R"({"ttl_ms":30000})");
  const auto memory_before = server.status("VmRSS:");

  library_crowd library{plan, names, count};
  http_crowd http{server, names, count};
  until_queued(library.client(), "bench/waits/", count);
  until_queued(library.client(), "bench/http/", count);
  const auto memory = server.status("VmRSS:") - memory_before;

  std::vector<double> own;
  std::vector<double> floor;
  std::size_t turn = 0;
  const auto repeat = [&](auto& crowd, std::vector<double>& into) {
    const auto end = std::chrono::steady_clock::now() + slice;
    while (std::chrono::steady_clock::now() < end) into.push_back(crowd.hand_over_ms(turn++));
  };
  in_turn(
      plan.rounds, [&] { repeat(http, own); }, [&] { repeat(library, floor); });

  result one;
  one.scenario = "http-waits";
  one.threads = count;
  one.unit = "ms from a release to the next one's answer (99th percentile)";
  one.rowlock = quantile(own, 0.99);
  one.floor = quantile(floor, 0.99);
  one.details["floor_is"] = "the library, with as many asynchronous acquires";
  one.details["median_ms"] = median(own);
  one.details["floor_median_ms"] = median(floor);
  one.details["hand_overs"] = own.size();
  one.details["server_threads"] = server.status("Threads:");
  one.details["server_kib_per_wait"] = static_cast<double>(memory) / count;
  one.details["rounds"] = plan.rounds;
  return one;
}

}  // namespace

std::vector<result> http_waits(const plan& plan) {
  allow_many_connections();
  const int count = plan.threads.value_or(10'000);
  const int names = std::clamp(count / 10, 1, most_names);
  const auto database = open_floor(plan);
  const freed_names freed{plan, names};
  auto one = measure_waits(plan, names, count);
  one.durability = database->durability();
  return {one};
}

}  // namespace rowlock::bench
