#include "client/transfer_note.hpp"

#include "model/names.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace rowlock::client_layer {

namespace {

constexpr std::string_view adopt_prefix = "rowlock-hold/2/";
constexpr std::string_view reclaim_prefix = "rowlock-receipt/2/";
constexpr std::size_t id_length = 32;
constexpr std::size_t sum_length = 8;

// Detects an incomplete text, because a truncated name is also a name. FNV-1a.
std::string sum_of(std::string_view text) {
  std::uint32_t sum = 2166136261U;
  for (const char c : text) sum = (sum ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return fmt::format("{:08x}", sum);
}

std::string_view prefix_of(transfer_note::purpose purpose) {
  return purpose == transfer_note::purpose::adopt ? adopt_prefix : reclaim_prefix;
}

}  // namespace

std::string transfer_note::to_string() const {
  const auto body = fmt::format("{}/{}/{}", lease.to_string(), hold.to_string(), name);
  return fmt::format("{}{}/{}", prefix_of(what), sum_of(body), body);
}

transfer_note transfer_note::parse(const std::string& text, purpose expected) {
  const auto prefix = prefix_of(expected);
  const auto* const origin =
      expected == purpose::adopt ? "hold::transfer or `rowlock acquire`" : "hold::receipt";
  if (!text.starts_with(prefix)) {
    throw error(errc::invalid_argument,
                fmt::format("this is not a text of {}: such a text begins with \"{}\"", origin, prefix));
  }
  const auto body = std::string_view{text}.substr(std::min(text.size(), prefix.size() + sum_length + 1));
  if (body.size() <= 2 * (id_length + 1) ||
      std::string_view{text}.substr(prefix.size(), sum_length + 1) != sum_of(body) + '/') {
    throw error(
        errc::invalid_argument,
        fmt::format("this text of {} is damaged: something is missing, was added or was changed", origin));
  }
  transfer_note note{expected, model::lease_id::parse(body.substr(0, id_length)),
                     model::hold_id::parse(body.substr(id_length + 1, id_length)),
                     std::string{body.substr(2 * (id_length + 1))}};
  model::check_name(note.name);
  if (note.to_string() != text) {
    throw error(errc::invalid_argument, fmt::format("this text of {} was changed", origin));
  }
  return note;
}

}  // namespace rowlock::client_layer
