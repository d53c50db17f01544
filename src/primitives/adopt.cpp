#include <rowlock/adopt.hpp>
#include <rowlock/error.hpp>

#include "client/call/transfer.hpp"
#include "primitives/access.hpp"

ROWLOCK_BEGIN_NAMESPACE

using client_layer::transfer_note;
using primitives::access;

hold adopt(client db, const std::string& text) {
  const auto note = transfer_note::parse(text, transfer_note::purpose::adopt);
  return access::make<hold>(client_layer::adopt(*access::engine(db), note));
}

bool extend(client db, const std::string& text) {
  const auto note = transfer_note::parse(text, transfer_note::purpose::adopt);
  return client_layer::extend(*access::engine(db), note);
}

release_result release(client db, const std::string& text) {
  const auto note = transfer_note::parse(text, transfer_note::purpose::adopt);
  return client_layer::release(*access::engine(db), note);
}

hold reclaim(client db, const std::string& text) {
  const auto note = transfer_note::parse(text, transfer_note::purpose::reclaim);
  if (client_layer::is_held_here(note)) {
    throw error(errc::contention, "this process holds \"" + note.name + "\" itself; release or transfer it");
  }
  return access::make<hold>(client_layer::reclaim(*access::engine(db), note));
}

ROWLOCK_END_NAMESPACE
