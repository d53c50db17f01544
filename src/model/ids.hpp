// 128 random bits that name a lease or a hold. The client makes an id, and none is issued twice (a sequence
// would issue its numbers again after a fail-over). Ids are compared whole.
#pragma once

#include "model/for_stores.hpp"

#include <rowlock/ids.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rowlock::model {

// Adds to the public ids what only rowlock itself does with an id.
class id128 : public detail::id128 {
 public:
  constexpr id128() = default;  // nil: names nothing
  constexpr explicit id128(const detail::id128& bits) noexcept : detail::id128{bits} {}

  // Uses the kernel's random source. Throws error(internal) when there is none.
  ROWLOCK_FOR_STORES static id128 random();

  // As hold_id::parse.
  static id128 parse(std::string_view text) { return id128{detail::id128::parse(text)}; }

  // The first half. All ids made for one owner share it; random ids never share it.
  constexpr std::uint64_t owner() const noexcept { return words()[0]; }
  // As random(), but all ids that the calling thread makes have one owner.
  static id128 of_this_thread();
  // The owner of the ids that the calling thread makes. No other thread ever has it, unlike a
  // std::thread::id, which is reused when its thread has ended.
  static std::uint64_t owner_of_this_thread();
  // Another id of the same owner.
  id128 sibling() const;
  // Another id for each number except 0; always the same id for the same number.
  constexpr id128 numbered(std::int64_t number) const {
    return id128{detail::id128{{words()[0], words()[1] ^ static_cast<std::uint64_t>(number)}}};
  }

  constexpr bool operator==(const id128& other) const noexcept { return words() == other.words(); }
  constexpr auto operator<=>(const id128& other) const noexcept { return words() <=> other.words(); }
  std::size_t hash() const noexcept { return static_cast<std::size_t>(words()[0] ^ words()[1]); }
};

// Each kind of id has its own type, so a hold's id cannot be passed where a lease's is expected. Shown is the public
// type of the id.
template <class Shown>
class id : public id128 {
 public:
  constexpr id() = default;
  constexpr explicit id(const Shown& shown) noexcept : id128{shown} {}
  constexpr operator Shown() const noexcept { return Shown{words()}; }  // NOLINT: implicit
  static id random() { return id{id128::random()}; }
  static id parse(std::string_view text) { return id{id128::parse(text)}; }
  static id of_this_thread() { return id{id128::of_this_thread()}; }
  id sibling() const { return id{id128::sibling()}; }
  // The id of something that belongs only to what the id `other` names. If the other may have several such things, each
  // has a number of its own.
  template <class Other>
  static constexpr id belonging_to(const model::id<Other>& other, std::int64_t number = 0) {
    return id{other.numbered(number)};
  }

 private:
  constexpr explicit id(id128 value) : id128{value} {}
};

using lease_id = id<rowlock::lease_id>;
using hold_id = id<rowlock::hold_id>;

}  // namespace rowlock::model

template <class Shown>
struct std::hash<rowlock::model::id<Shown>> {
  std::size_t operator()(const rowlock::model::id<Shown>& value) const noexcept { return value.hash(); }
};
