#include <rowlock/adopt.hpp>
#include <rowlock/error.hpp>

#include "client/transfer.hpp"

ROWLOCK_BEGIN_NAMESPACE

using client_layer::transfer_note;

std::optional<hold> adopt(client db, const std::string& text) {
  auto held = client_layer::adopt(*db.engine(), transfer_note::parse(text, transfer_note::purpose::adopt));
  if (!held) return {};
  return hold{std::move(held)};
}

std::optional<hold> reclaim(client db, const std::string& text) {
  const auto note = transfer_note::parse(text, transfer_note::purpose::reclaim);
  if (client_layer::is_held_here(note)) {
    throw error(errc::contention,
                "this process holds \"" + note.name + "\" itself; release it, or have it handed over");
  }
  auto held = client_layer::reclaim(*db.engine(), note);
  if (!held) return {};
  return hold{std::move(held)};
}

ROWLOCK_END_NAMESPACE
