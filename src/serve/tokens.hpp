// Who may do what: roles, and the file with the digests of the tokens that prove them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::serve {

// read: see locks, waiters and metrics. lock: acquire and release. operate: what an operator does to others' locks. None
// includes another one.
enum class role : std::uint8_t { read = 1, lock = 2, operate = 4 };
const char* to_string(role one) noexcept;
// Throws error(invalid_argument).
role parse_role(std::string_view word);

// Whether the text has that many letters, digits, '.', '_' and '-', and nothing else.
bool is_plain_name(std::string_view text, std::size_t shortest, std::size_t longest);

// Whom a request comes from.
struct principal {
  std::string name;
  std::uint8_t roles = 0;

  bool has(role one) const noexcept { return (roles & static_cast<std::uint8_t>(one)) != 0; }
  void add(role one) noexcept { roles |= static_cast<std::uint8_t>(one); }
};

struct new_token {
  std::string token;  // a secret: 256 random bits
  std::string line;   // for the file; it has the token's digest alone
};

// Throws error(invalid_argument) for a name that is not [A-Za-z0-9._-]{1,64}, and if there is no role.
new_token make_token(const std::string& name, const std::vector<role>& roles);

// The tokens that a server accepts. A line of the file is NAME ROLE... sha256:DIGEST, with the SHA-256 of the token in
// hexadecimal; empty lines and lines that begin with # say nothing. The digests are no secrets, because a token has too
// many bits to be guessed.
class tokens {
 public:
  // Throws error(invalid_argument) for a file that cannot be read, that others than its owner and its group may read,
  // that others than its owner may write, that has no token, or a line that is none. No message repeats a line.
  static tokens read(const std::string& path);
  // path: for messages.
  static tokens parse(std::string_view text, const std::string& path);

  // Whom the token names. Takes equally long for every token that has the same length.
  std::optional<principal> find(std::string_view token) const;
  bool anybody_has(role one) const noexcept;

 private:
  struct entry {
    std::string digest;  // in hexadecimal
    principal who;
  };

  std::vector<entry> entries_;
};

}  // namespace rowlock::serve
