#include "client/core/loss_notifier.hpp"

#include <utility>

namespace rowlock::client_layer {

namespace {

// How many of the holds that are lost together the log names. It counts the rest.
constexpr std::size_t logged_by_name = 100;

}  // namespace

void loss_notifier::lose(std::span<const hold_ptr> holds, loss reason) noexcept {
  lost_holds lost;
  for (const auto& hold : holds) {
    if (hold->lose(reason)) lost.push(hold);
  }
  deliver(std::move(lost));
  // Done last, because removing many holds takes time, and no notification may wait for it.
  holds_.remove(holds);
}

void loss_notifier::deliver(lost_holds lost) noexcept {
  if (lost.empty()) return;
  environment_.count.lost((*lost.begin())->loss()).fetch_add(lost.size());
  if (calls_.put([&](untold& waiting) { waiting.lost.append(std::move(lost)); })) return;
  tell_now(std::move(lost));
}

// All are told before anything else is done.
void loss_notifier::tell_now(lost_holds lost) const noexcept {
  const auto now = environment_.time.now();
  for (const auto& hold : lost) hold->deliver();
  for (const auto& hold : lost) note_end(*hold, now);
  log_lost(std::move(lost));
}

void loss_notifier::note_end(const hold_state& lost, instant now) const noexcept {
  const auto held = now - lost.grant().at;
  environment_.count.held.add(held);
  environment_.tell([&] {
    auto event = lost.event(hold_event::kind::lost);
    event.held = held;
    event.loss = lost.loss();
    return event;
  });
}

void loss_notifier::log_lost(lost_holds lost) const noexcept {
  while (!lost.empty()) {
    const auto reason = (*lost.begin())->loss();
    std::size_t count = 0;
    for (; !lost.empty() && (*lost.begin())->loss() == reason; ++count) {
      const auto hold = lost.pop();
      if (count >= logged_by_name) continue;
      environment_.log(log_level::warning, "hold {} of \"{}\" is lost: {}", hold->id(), hold->name(),
                       to_string(reason));
    }
    if (count <= logged_by_name) continue;
    environment_.log(log_level::warning, "{} more holds are lost: {}", count - logged_by_name,
                     to_string(reason));
  }
}

void loss_notifier::notify_request(const hold_ptr& hold, const std::string& reason, instant until) {
  if (!hold->request_release(reason, until)) return;
  environment_.count.release_requests.fetch_add(1, std::memory_order_relaxed);
  environment_.tell([&] {
    auto event = hold->event(hold_event::kind::release_requested);
    event.request = hold->request();
    return event;
  });
  environment_.log(log_level::info, "somebody requests the release of hold {} of \"{}\": {}", hold->id(),
                   hold->name(), reason);
  if (calls_.put([&](untold& waiting) { waiting.asked.push(hold); })) return;
  hold->notify_request();
}

loss_notifier::untold loss_notifier::untold::pop() noexcept {
  untold next{std::move(lost), {}};
  if (next.lost.empty()) next.asked.push(asked.pop());
  return next;
}

void loss_notifier::run() noexcept {
  calls_.run([this](untold& next) {
    for (const auto& hold : next.asked) hold->notify_request();
    tell_now(std::move(next.lost));
  });
}

}  // namespace rowlock::client_layer
