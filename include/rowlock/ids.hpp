// What names a hold and a lease, and the token that orders the holds of a name: small values, each of its own type.
#pragma once

#include <rowlock/config.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

ROWLOCK_BEGIN_NAMESPACE

namespace detail {

// What hold_id and lease_id have in common: 128 bits.
class id128 {
 public:
  constexpr id128() noexcept = default;
  constexpr explicit id128(const std::array<std::uint64_t, 2>& words) noexcept : words_(words) {}
  // Throws error(invalid_argument).
  ROWLOCK_EXPORT static id128 parse(std::string_view text);

  // All zeros: it names nothing.
  constexpr bool is_nil() const noexcept { return words_[0] == 0 && words_[1] == 0; }
  // 32 lower-case hex digits.
  ROWLOCK_EXPORT std::string to_string() const;
  // The first half of the digits, then the second.
  constexpr const std::array<std::uint64_t, 2>& words() const noexcept { return words_; }

 private:
  std::array<std::uint64_t, 2> words_{};
};

ROWLOCK_EXPORT std::ostream& print(std::ostream& out, std::string_view text);

}  // namespace detail

// The id of one acquisition: 128 bits. Both halves are random, but the first is the same for all that one thread
// acquires. Ids sort as their texts do.
class hold_id : public detail::id128 {
 public:
  constexpr hold_id() noexcept = default;  // nil: no hold, or a lock that rests
  constexpr explicit hold_id(const std::array<std::uint64_t, 2>& words) noexcept : id128(words) {}
  // Reads 32 hex digits; ignores dashes, which uuid columns print. Throws error(invalid_argument).
  static hold_id parse(std::string_view text) { return hold_id{id128::parse(text).words()}; }

  friend constexpr bool operator==(const hold_id& a, const hold_id& b) noexcept {
    return a.words() == b.words();
  }
  friend constexpr std::strong_ordering operator<=>(const hold_id& a, const hold_id& b) noexcept {
    return a.words() <=> b.words();
  }
  friend std::string to_string(const hold_id& id) { return id.to_string(); }
  friend std::string format_as(const hold_id& id) { return id.to_string(); }  // for the library fmt
  friend std::ostream& operator<<(std::ostream& out, const hold_id& id) {
    return detail::print(out, id.to_string());
  }
};

// The id of a lease: of a client, or of a single hold that has an explicit ttl. Sorts as hold_id.
class lease_id : public detail::id128 {
 public:
  constexpr lease_id() noexcept = default;
  constexpr explicit lease_id(const std::array<std::uint64_t, 2>& words) noexcept : id128(words) {}
  static lease_id parse(std::string_view text) { return lease_id{id128::parse(text).words()}; }

  friend constexpr bool operator==(const lease_id& a, const lease_id& b) noexcept {
    return a.words() == b.words();
  }
  friend constexpr std::strong_ordering operator<=>(const lease_id& a, const lease_id& b) noexcept {
    return a.words() <=> b.words();
  }
  friend std::string to_string(const lease_id& id) { return id.to_string(); }
  friend std::string format_as(const lease_id& id) { return id.to_string(); }
  friend std::ostream& operator<<(std::ostream& out, const lease_id& id) {
    return detail::print(out, id.to_string());
  }
};

// A fencing token: greater than that of every earlier hold of its name, and below 2^53. Tokens of different names, or
// of a name in different databases, have nothing to do with each other.
//
// A token is for systems that rowlock does not control: they store value(), and refuse a request that comes with a
// lower one.
class fencing_token {
 public:
  constexpr fencing_token() noexcept = default;  // 0: below those of all holds
  constexpr explicit fencing_token(std::int64_t value) noexcept : value_(value) {}
  // Reads decimal digits, at most 2^63 - 1. Throws error(invalid_argument).
  ROWLOCK_EXPORT static fencing_token parse(std::string_view text);

  // For a column, a parameter of a statement, a header.
  constexpr std::int64_t value() const noexcept { return value_; }
  std::string to_string() const { return std::to_string(value_); }

  friend constexpr auto operator<=>(const fencing_token&, const fencing_token&) noexcept = default;
  friend std::string to_string(const fencing_token& token) { return token.to_string(); }
  friend constexpr std::int64_t format_as(const fencing_token& token) noexcept { return token.value_; }
  friend std::ostream& operator<<(std::ostream& out, const fencing_token& token) {
    return detail::print(out, token.to_string());
  }

 private:
  std::int64_t value_ = 0;
};

ROWLOCK_END_NAMESPACE

template <>
struct std::hash<rowlock::hold_id> {
  std::size_t operator()(const rowlock::hold_id& id) const noexcept {
    return static_cast<std::size_t>(id.words()[0] ^ id.words()[1]);
  }
};
template <>
struct std::hash<rowlock::lease_id> {
  std::size_t operator()(const rowlock::lease_id& id) const noexcept {
    return static_cast<std::size_t>(id.words()[0] ^ id.words()[1]);
  }
};
template <>
struct std::hash<rowlock::fencing_token> {
  std::size_t operator()(const rowlock::fencing_token& token) const noexcept {
    return std::hash<std::int64_t>{}(token.value());
  }
};
