// Moves holds from one process to another: a living holder hands its hold over, or the successor of a dead
// one reclaims it.
#pragma once

#include "client/engine.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace rowlock::client_layer {

// Which hold is meant, as text: the purpose of the note, the lease that the hold stands on, its id and its
// name.
struct transfer_note {
  enum class purpose { adopt, reclaim };
  purpose what = purpose::adopt;
  model::lease_id lease;
  model::hold_id hold;
  std::string name;

  std::string to_string() const;
  // Throws error(invalid_argument).
  static transfer_note parse(const std::string& text, purpose expected);
};

// As hold::receipt.
std::string receipt(const hold_ptr& hold);
// Whether the hold of a receipt stands in this process.
bool is_held_here(const transfer_note& note);

// As hold::hand_over.
std::string hand_over(const hold_ptr& hold, std::chrono::milliseconds ttl);
// As rowlock::adopt and rowlock::reclaim. Null: the hold does not stand as the note says.
hold_ptr adopt(engine& on, const transfer_note& note);
hold_ptr reclaim(engine& on, const transfer_note& note);

}  // namespace rowlock::client_layer
