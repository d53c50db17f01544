#include "client/call/transfer_note.hpp"

#include "model/names.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace rowlock::client_layer {

namespace {

constexpr std::string_view adopt_prefix = "rowlock-hold/2/";
constexpr std::string_view reclaim_prefix = "rowlock-receipt/3/";
constexpr std::string_view old_reclaim_prefix = "rowlock-receipt/2/";  // without the process
constexpr std::size_t id_length = 32;
constexpr std::size_t sum_length = 8;

// Detects an incomplete text, because a truncated name is also a name. FNV-1a.
std::string sum_of(std::string_view text) {
  std::uint32_t sum = 2166136261U;
  for (const char c : text) sum = (sum ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return fmt::format("{:08x}", sum);
}

struct form {
  std::string_view prefix;
  bool names_process;
};

form form_of(const transfer_note& note) {
  if (note.what == transfer_note::purpose::adopt) return {adopt_prefix, false};
  return note.process.empty() ? form{old_reclaim_prefix, false} : form{reclaim_prefix, true};
}

}  // namespace

std::string transfer_note::to_string() const {
  const auto written = form_of(*this);
  const auto body = fmt::format("{}/{}/{}{}{}", lease.to_string(), hold.to_string(), process,
                                written.names_process ? "/" : "", name);
  return fmt::format("{}{}/{}", written.prefix, sum_of(body), body);
}

transfer_note transfer_note::parse(const std::string& text, purpose expected) {
  const bool is_old = expected == purpose::reclaim && text.starts_with(old_reclaim_prefix);
  const bool names_process = expected == purpose::reclaim && !is_old;
  const auto prefix = is_old ? old_reclaim_prefix : names_process ? reclaim_prefix : adopt_prefix;
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
  auto name = body.substr(2 * (id_length + 1));
  std::string_view process;
  if (names_process) {
    process = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), process.size() + 1));
  }
  transfer_note note{expected, model::lease_id::parse(body.substr(0, id_length)),
                     model::hold_id::parse(body.substr(id_length + 1, id_length)), std::string{name},
                     std::string{process}};
  model::check_name(note.name);
  if (note.to_string() != text) {
    throw error(errc::invalid_argument, fmt::format("this text of {} was changed", origin));
  }
  return note;
}

}  // namespace rowlock::client_layer
