#include "serve/lock_board.hpp"

#include "serve/as_error.hpp"
#include "serve/pause.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t board_page = 1000;
constexpr std::size_t most_locks = 20'000;
constexpr std::chrono::milliseconds least_pause = 1s;

// A number that changes with the locks, but not with what changes by itself, such as the time that a lease has left.
std::uint64_t version_of(const std::vector<lock_info>& locks) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t word) { sum = (sum ^ word) * 0x9E3779B97F4A7C15 + (sum >> 29); };
  for (const auto& one : locks) {
    add(std::hash<std::string>{}(one.name));
    for (const auto number : {one.capacity, one.in_use, one.waiters}) add(static_cast<std::uint64_t>(number));
    add(static_cast<std::uint64_t>(one.token.value()));
    add(one.request ? std::hash<std::string>{}(one.request->reason) + 1 : 0);
    for (const auto& holder : one.holders) {
      for (const auto word : holder.hold_id.words()) add(word);
      add(std::hash<std::string>{}(holder.data) + (holder.expires_in.count() < 0 ? 1 : 0));
    }
  }
  return sum % 1'000'000'000'000;  // a number that JavaScript can represent
}

std::string event_of(const board_state& now) {
  nlohmann::ordered_json data{
      {"reachable", !now.problem},
      {"version", now.version},
      {"locks", now.locks.size()},
      {"held", std::ranges::count_if(now.locks, [](auto& one) { return one.in_use > 0; })},
      {"next_ms", now.next.count()}};
  std::int64_t waiters = 0;
  for (const auto& one : now.locks) waiters += one.waiters;
  data["waiters"] = waiters;
  if (now.problem) {
    data["error"] = {{"code", to_string(now.problem->kind())}, {"message", now.problem->what()}};
  }
  return "event: state\ndata: " +
         data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n\n";
}

}  // namespace

lock_board::lock_board(database& db, workers& pool) : db_{db}, pool_{pool} {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void lock_board::stop() {
  thread_.request_stop();
  thread_.join();
}

void lock_board::ask(use answer) {
  state known;
  {
    const model::annotated_lock lock{mutex_};
    if (!is_reading_ && clock::now() < valid_until_) {
      known = latest_;
    } else {
      waiting_.push_back(std::move(answer));
      if (is_reading_) return;
      const bool is_posted = pool_.post([this] { read(); });
      is_reading_ = true;  // not before post(), which may throw
      if (is_posted) return;
    }
  }
  if (known) return answer(known);
  publish(
      {.problem = error(errc::unreachable, "too many requests wait for the database"), .next = least_pause});
}

void lock_board::subscribe(const request& from, const reply& to) {
  // A proxy that keeps small answers until they are large would keep the events.
  to.begin({.type = "text/event-stream", .headers = {{"X-Accel-Buffering", "no"}}});
  if (from.method == "HEAD") return to.end();
  {
    const model::annotated_lock lock{stream_mutex_};
    subscribers_.push_back(std::make_unique<subscriber>(to));
  }
  ask([to](const state& now) { (void)to.write(event_of(*now)); });
}

// Asks for a new state whenever one is due and somebody listens. While a reading is under way, nothing is asked: its
// end sends the state to all listeners.
void lock_board::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool is_idle = true;
    clock::time_point due;
    {
      const model::annotated_lock lock{mutex_};
      is_idle = is_reading_;
      due = valid_until_;
    }
    {
      const model::annotated_lock lock{stream_mutex_};
      std::erase_if(subscribers_, [](const auto& one) { return one->to.over().stop_requested(); });
      is_idle = is_idle || subscribers_.empty();
    }
    try {
      if (!is_idle && clock::now() >= due) ask([](const state&) {});
    } catch (const std::exception&) {
      // No memory: it asks again.
    }
    pause_until(clock::now() + (is_idle ? 250ms : 100ms), stop);
  }
}

std::vector<lock_info> lock_board::read_locks(bool& is_cut) {
  std::vector<lock_info> all;
  while (all.size() < most_locks) {
    std::vector<lock_info> page;
    const auto after = all.empty() ? std::string{} : all.back().name;
    db_.call("list", [&](const client& in) { page = admin{in}.list(after, board_page); });
    const bool is_last = page.size() < board_page;
    std::ranges::move(page, std::back_inserter(all));
    if (is_last) return all;
  }
  is_cut = true;
  return all;
}

void lock_board::read() {
  const auto began = clock::now();
  board_state found;
  try {
    found.locks = read_locks(found.is_cut);
    found.version = version_of(found.locks);
  } catch (const std::exception& problem) {
    found.problem = as_error(problem);
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - began);
  found.next = std::max(least_pause, 4 * took);
  publish(std::move(found));
}

void lock_board::publish(board_state found) {
  std::vector<use> answers;
  state now;
  {
    const model::annotated_lock lock{mutex_};
    // First what cannot fail: if the memory runs out below, those who wait learn it, and a later one reads again.
    is_reading_ = false;
    answers = std::exchange(waiting_, {});
    valid_until_ = clock::now() + found.next;
    if (found.problem) {
      found.locks = latest_->locks;
      found.is_cut = latest_->is_cut;
      found.version = latest_->version;
    }
    latest_ = now = std::make_shared<const board_state>(std::move(found));
  }
  for (const auto& one : answers) one(now);
  const auto event = event_of(*now);
  const model::annotated_lock lock{stream_mutex_};
  for (const auto& one : subscribers_) (void)one->to.write(event);
}

}  // namespace rowlock::serve
