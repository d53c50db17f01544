#include "client/transfer.hpp"

#include "client/backoff.hpp"
#include "model/names.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

constexpr std::string_view adopt_prefix = "rowlock-hold/1/";
constexpr std::string_view reclaim_prefix = "rowlock-receipt/1/";
constexpr std::size_t id_length = 32;

std::string_view prefix_of(transfer_note::purpose purpose) {
  return purpose == transfer_note::purpose::adopt ? adopt_prefix : reclaim_prefix;
}

std::shared_ptr<lease> lease_of(engine& on) {
  const auto until = on.shared().time.now() + on.shared().longest_call();
  on.start_keeper();
  for (;;) {
    if (auto lease = on.desk().keeper.lease()) return lease;
    if (!on.rest(std::min<std::chrono::nanoseconds>(1ms, until - on.shared().time.now()), {})) {
      throw no_answer(on.shared().longest_call());
    }
  }
}

// Decides until that is settled, also after lost answers; what fails for good is taken back, for it may have
// happened.
hold_ptr take(engine& on, const transfer_note& note, model::hold_id hold,
              const std::function<decision(const store::lock_view&, model::lease_id mine)>& decide) {
  on.check_usable();
  const auto lease = lease_of(on);
  outcome settled;
  try {
    settled = on.tasks().settle_again(
        note.name, hold, [=](const store::lock_view& view) { return decide(view, lease->id()); });
  } catch (const error& failure) {
    if (failure.outcome_unknown()) on.give_back(note.name, hold, lease);
    throw;
  }
  if (settled.result != what::granted) return nullptr;
  if (auto taken = on.hold_of(hold, settled, lease)) return taken;
  on.give_back(note.name, hold, lease);
  return nullptr;
}

// A process of this machine that has not ended. Elsewhere nothing is known.
bool lives(const store::lease_record& holder, const engine& on) {
  if (holder.host != on.host() || holder.pid == ::getpid()) return false;
  return ::kill(static_cast<pid_t>(holder.pid), 0) == 0 || errno == EPERM;
}

}  // namespace

std::string transfer_note::to_string() const {
  return fmt::format("{}{}/{}/{}", prefix_of(what), lease.to_string(), hold.to_string(), name);
}

transfer_note transfer_note::parse(const std::string& text, purpose expected) {
  const auto prefix = prefix_of(expected);
  const auto hold_at = prefix.size() + id_length + 1;
  const auto name_at = hold_at + id_length + 1;
  if (text.rfind(prefix, 0) != 0 || text.size() <= name_at || text[hold_at - 1] != '/' ||
      text[name_at - 1] != '/') {
    throw error(errc::invalid_argument,
                fmt::format("this is no text of {}: it begins with \"{}\"",
                            expected == purpose::adopt ? "hold::hand_over" : "hold::receipt", prefix));
  }
  transfer_note note{expected, model::lease_id::parse(text.substr(prefix.size(), id_length)),
                     model::hold_id::parse(text.substr(hold_at, id_length)), text.substr(name_at)};
  model::check_name(note.name);
  return note;
}

std::string hand_over(const hold_ptr& hold, std::chrono::milliseconds ttl) {
  model::check_explicit_ttl(ttl);
  auto& on = hold->engine();
  on.check_usable();
  const auto lost = [&] { return error(errc::hold_lost, "the hold of \"" + hold->name() + "\" is over"); };
  if (!hold->is_valid()) throw lost();
  if (hold->depth() > 1) {
    throw error(errc::invalid_argument, "\"" + hold->name() + "\" was entered " +
                                            std::to_string(hold->depth()) +
                                            " times; leave it but for once before it is handed over");
  }
  const transfer_note note{transfer_note::purpose::adopt, model::lease_id::random(), hold->id(),
                           hold->name()};
  const auto record = on.describe(note.lease, note.lease, ttl);
  std::optional<model::lease_id> ended;
  if (!hold->lease()->is_renewed()) ended = hold->lease()->id();
  try {
    const auto settled =
        on.tasks().settle(hold->name(), hold->id(), [=, id = hold->id()](const store::lock_view& view) {
          auto made = decide_move(view, id, record);
          if (ended && made.outcome.result == what::granted) made.change.end_leases.push_back(*ended);
          return made;
        });
    if (settled.result != what::granted) throw lost();
  } catch (const error& failure) {
    // It may stand on a lease that ends without this process knowing when.
    if (failure.outcome_unknown()) on.begin_release(*hold);
    throw;
  }
  on.let_go(*hold);
  return note.to_string();
}

hold_ptr adopt(engine& on, const transfer_note& note) {
  return take(on, note, note.hold, [note](const store::lock_view& view, model::lease_id mine) {
    return decide_adopt(view, note.hold, note.lease, mine);
  });
}

hold_ptr reclaim(engine& on, const transfer_note& note) {
  const auto stored = std::make_shared<std::optional<store::lock_info>>();
  on.check_usable();
  on.tasks().perform([stored, name = note.name](store::session& session) { *stored = session.show(name); });
  if (!*stored) return nullptr;
  for (const auto& holder : (*stored)->holders) {
    if (holder.hold != note.hold || !lives(holder.lease, on)) continue;
    throw error(errc::contention,
                fmt::format("process {} on this machine, which holds \"{}\", has not ended; reclaim "
                            "it when that has, or have it handed over",
                            holder.lease.pid, note.name));
  }
  const auto mine = model::hold_id::of_this_thread();
  return take(on, note, mine, [note, mine](const store::lock_view& view, model::lease_id lease) {
    return decide_reclaim(view, note.hold, note.lease, {0, mine, lease});
  });
}

}  // namespace rowlock::client_layer
