// 128 random bits that name a lease or a hold. The client makes an id, and none is issued twice (a sequence
// would issue its numbers again after a fail-over). Ids are compared whole.
#pragma once

#include "model/for_stores.hpp"

#include <rowlock/config.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rowlock::model {

class id128 {
 public:
  constexpr id128() = default;  // nil: names nothing

  // Uses the kernel's random source. Throws error(internal) when there is none.
  ROWLOCK_FOR_STORES static id128 random();

  // Reads 32 hex digits and ignores dashes, which uuid columns print. Throws error(invalid_argument).
  ROWLOCK_FOR_STORES static id128 parse(std::string_view text);

  // 32 lower-case hex digits.
  ROWLOCK_FOR_STORES std::string to_string() const;

  // The first half. All ids made for one owner share it; random ids never share it.
  constexpr std::uint64_t owner() const noexcept { return words_[0]; }
  // As random(), but all ids that the calling thread makes have one owner.
  static id128 of_this_thread();
  // The owner of the ids that the calling thread makes. No other thread ever has it, unlike a
  // std::thread::id, which is reused when its thread has ended.
  static std::uint64_t owner_of_this_thread();
  // Another id of the same owner.
  id128 sibling() const;
  // Another id for each number except 0, and the same for the same number.
  constexpr id128 numbered(std::int64_t number) const {
    id128 result = *this;
    result.words_[1] ^= static_cast<std::uint64_t>(number);
    return result;
  }

  constexpr bool is_nil() const noexcept { return words_[0] == 0 && words_[1] == 0; }
  constexpr auto operator<=>(const id128&) const = default;
  std::size_t hash() const noexcept { return static_cast<std::size_t>(words_[0] ^ words_[1]); }

 private:
  std::array<std::uint64_t, 2> words_{};
};

// Each kind of id has its own type, so a hold's id cannot be passed where a lease's is expected.
template <class Tag>
class id : public id128 {
 public:
  constexpr id() = default;
  static id random() { return id{id128::random()}; }
  static id parse(std::string_view text) { return id{id128::parse(text)}; }
  static id of_this_thread() { return id{id128::of_this_thread()}; }
  id sibling() const { return id{id128::sibling()}; }
  // The id of something that belongs only to what the other id names. If that may have several such things, each has
  // a number of its own.
  template <class Other>
  static constexpr id belonging_to(const model::id<Other>& other, std::int64_t number = 0) {
    return id{other.numbered(number)};
  }

 private:
  constexpr explicit id(id128 value) : id128{value} {}
};

using lease_id = id<struct lease_tag>;
using hold_id = id<struct hold_tag>;

}  // namespace rowlock::model

template <class Tag>
struct std::hash<rowlock::model::id<Tag>> {
  std::size_t operator()(const rowlock::model::id<Tag>& value) const noexcept { return value.hash(); }
};
