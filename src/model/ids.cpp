#include "model/ids.hpp"

#include "model/fork_count.hpp"
#include "model/text.hpp"

#include <rowlock/error.hpp>

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <ostream>

namespace rowlock::model {

namespace {

// Entropy is fetched in blocks: one system call serves 128 ids, and each acquire makes an id.
struct entropy_block {
  std::array<std::uint64_t, 256> words;
  std::size_t used = words.size();
  std::uint64_t forks = 0;
};

void fill(entropy_block& block) {
  auto* bytes = reinterpret_cast<char*>(block.words.data());
  std::size_t done = 0;
  while (done < sizeof block.words) {
    const ssize_t got = ::getrandom(bytes + done, sizeof block.words - done, 0);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      throw error(errc::internal, "the kernel returned no random bytes for an id");
    }
  }
  block.used = 0;
}

const id128& first_of_this_thread() {
  thread_local id128 first;
  thread_local std::uint64_t forks = 0;
  if (const auto now = fork_count(); forks != now) {
    first = id128::random();
    forks = now;
  }
  return first;
}

}  // namespace

id128 id128::random() {
  thread_local entropy_block block;
  // A forked child must not hand out its parent's ids.
  if (const auto forks = fork_count(); block.forks != forks) {
    block.forks = forks;
    block.used = block.words.size();
  }
  if (block.used == block.words.size()) fill(block);
  const id128 result{detail::id128{{block.words[block.used], block.words[block.used + 1]}}};
  block.used += 2;
  return result;
}

id128 id128::of_this_thread() {
  return first_of_this_thread().sibling();
}

std::uint64_t id128::owner_of_this_thread() {
  return first_of_this_thread().owner();
}

id128 id128::sibling() const {
  return id128{detail::id128{{owner(), random().words()[1]}}};
}

}  // namespace rowlock::model

ROWLOCK_BEGIN_NAMESPACE

namespace detail {

id128 id128::parse(std::string_view text) {
  std::array<std::uint64_t, 2> words{};
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const int value = model::hex_value(c);
    if (value < 0 || digits == 32) {
      digits = 0;
      break;
    }
    auto& word = words[digits / 16];
    word = word << 4 | static_cast<std::uint64_t>(value);
    ++digits;
  }
  if (digits != 32) {
    throw error(errc::invalid_argument, "an id is 32 hex digits, got \"" + std::string{text} + "\"");
  }
  return id128{words};
}

std::string id128::to_string() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 32; ++i) {
    text[i] = digits[words_[i / 16] >> (60 - 4 * (i % 16)) & 0xF];
  }
  return text;
}

std::ostream& print(std::ostream& out, std::string_view text) {
  return out << text;
}

}  // namespace detail

fencing_token fencing_token::parse(std::string_view text) {
  std::int64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto [last, failure] = std::from_chars(text.data(), end, value);
  // from_chars also reads a sign, and would take "-0" for 0.
  const bool has_sign = text.starts_with('-');
  if (failure != std::errc{} || last != end || has_sign) {
    throw error(errc::invalid_argument,
                "a fencing token is a number of 0 or more, got \"" + std::string{text} + '"');
  }
  return fencing_token{value};
}

ROWLOCK_END_NAMESPACE
