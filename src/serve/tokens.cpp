#include "serve/tokens.hpp"

#include "serve/digest.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace rowlock::serve {

namespace {

constexpr std::string_view digest_mark = "sha256:";
constexpr std::size_t digest_digits = 64;
constexpr std::array all_roles{role::read, role::lock, role::operate};

bool is_digest(std::string_view text) {
  return text.size() == digest_digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error(errc::invalid_argument, fmt::format("the token file '{}' {}", path, why));
}

// Throws error(invalid_argument) if somebody else may read or change the open file.
void check_access(int descriptor, const std::string& path) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (!S_ISREG(found.st_mode)) refuse(path, "is no file");
  if ((found.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    refuse(path, fmt::format("may be read or changed by other users (mode {:04o}); run: chmod 640 FILE",
                             found.st_mode & 07777));
  }
}

}  // namespace

bool is_plain_name(std::string_view text, std::size_t shortest, std::size_t longest) {
  constexpr std::string_view known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return text.size() >= shortest && text.size() <= longest && text.find_first_not_of(known) == text.npos;
}

const char* to_string(role one) noexcept {
  switch (one) {
    case role::read: return "read";
    case role::lock: return "lock";
    case role::operate: return "operate";
  }
  return "unknown";
}

role parse_role(std::string_view word) {
  for (const auto one : all_roles) {
    if (word == to_string(one)) return one;
  }
  throw error(errc::invalid_argument,
              fmt::format("'{}' is no role; the roles are read, lock and operate", word));
}

new_token make_token(const std::string& name, const std::vector<role>& roles) {
  if (!is_plain_name(name, 1, 64)) {
    throw error(
        errc::invalid_argument,
        fmt::format("'{}' cannot name a token; use up to 64 letters, digits, '.', '_' and '-'", name));
  }
  if (roles.empty()) {
    throw error(errc::invalid_argument, "a token needs a role: read, lock or operate");
  }
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    throw error(errc::internal, "libcrypto has no random numbers");
  }
  new_token made;
  made.token = fmt::format("rowlock_{:02x}", fmt::join(random, ""));
  made.line = name;
  for (const auto one : roles) made.line += std::string{" "} + to_string(one);
  made.line += fmt::format(" {}{}", digest_mark, digest_of(made.token));
  return made;
}

tokens tokens::read(const std::string& path) {
  const std::unique_ptr<int, void (*)(int*)> file{new int{::open(path.c_str(), O_RDONLY | O_CLOEXEC)},
                                                  [](int* one) {
                                                    if (*one >= 0) ::close(*one);
                                                    delete one;
                                                  }};
  if (*file < 0) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  check_access(*file, path);
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const auto got = ::read(*file, part.data(), part.size());
    if (got < 0) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > 1024 * 1024) refuse(path, "has more than a mebibyte");
  }
  return parse(text, path);
}

tokens tokens::parse(std::string_view text, const std::string& path) {
  tokens all;
  std::istringstream lines{std::string{text}};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream parts{line};
    std::vector<std::string> words{std::istream_iterator<std::string>{parts}, {}};
    if (words.empty() || words.front().starts_with('#')) continue;
    const auto wrong = [&](std::string_view what) {
      refuse(path, fmt::format("has {} in line {}; a line is NAME ROLE... sha256:DIGEST, as rowlock serve "
                               "--new-token NAME ROLE... prints it",
                               what, number));
    };
    if (!is_plain_name(words.front(), 1, 64)) wrong("an impossible name");
    if (words.size() < 3) wrong("too few words");
    if (!words.back().starts_with(digest_mark)) wrong("no digest");
    entry one{.digest = words.back().substr(digest_mark.size()), .who = {.name = words.front()}};
    if (!is_digest(one.digest)) wrong("a digest that is not 64 lower-case hexadecimal digits");
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      const auto known =
          std::ranges::find_if(all_roles, [&](role each) { return words[i] == to_string(each); });
      if (known == all_roles.end()) wrong("a word that is none of the roles read, lock and operate");
      one.who.add(*known);
    }
    all.entries_.push_back(std::move(one));
  }
  if (all.entries_.empty()) refuse(path, "has no token; rowlock serve --new-token NAME ROLE... makes one");
  return all;
}

bool tokens::anybody_has(role one) const noexcept {
  return std::ranges::any_of(entries_, [one](const entry& known) { return known.who.has(one); });
}

std::optional<principal> tokens::find(std::string_view token) const {
  const auto digest = digest_of(token);
  const principal* found = nullptr;
  for (const auto& one : entries_) {
    if (CRYPTO_memcmp(one.digest.data(), digest.data(), digest.size()) == 0) found = &one.who;
  }
  if (found == nullptr) return {};
  return *found;
}

}  // namespace rowlock::serve
