#include "serve/digest.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include <openssl/evp.h>

namespace rowlock::serve {

std::string digest_of(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw error(errc::internal, "libcrypto cannot compute a SHA-256");
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace rowlock::serve
