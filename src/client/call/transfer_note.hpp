// The text that moves a hold from one process to another: what hold::transfer and hold::receipt return.
#pragma once

#include "model/ids.hpp"

#include <rowlock/config.hpp>

#include <string>

namespace rowlock::client_layer {

// Identifies a hold, as text: the purpose of the note, the lease that the hold stands on, its id and its name; for
// reclaim also the process that has it.
struct transfer_note {
  enum class purpose { adopt, reclaim };
  purpose what = purpose::adopt;
  model::lease_id lease;
  model::hold_id hold;
  std::string name;
  std::string process{};  // birth_of(); empty if it is not known, as in a receipt of version 0.1
  std::string to_string() const;
  // Throws error(invalid_argument).
  static transfer_note parse(const std::string& text, purpose expected);
};

}  // namespace rowlock::client_layer
