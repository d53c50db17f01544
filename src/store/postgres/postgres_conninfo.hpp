// From the caller's URL to what libpq is given, and back to messages without secrets.
#pragma once

#include "store/store.hpp"

#include <string>
#include <vector>

namespace rowlock::store {

class postgres_conninfo {
 public:
  // Throws error(invalid_argument) for a URL that libpq cannot read; the message repeats none of it.
  postgres_conninfo(const std::string& url, const store_options& options);

  // Key and value pairs for libpq: the URL's, and where it is silent, time limits that notice a dead server.
  const std::string& text() const noexcept { return text_; }

  // The message with every secret of the URL replaced.
  std::string scrub(std::string message) const;

 private:
  std::string text_;
  std::vector<std::string> secrets_;
};

}  // namespace rowlock::store
