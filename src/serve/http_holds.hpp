// Holds of HTTP clients. No process has them: each stands on a lease of its own (hold::transfer), and its data say whose
// it is. So whatever happens to this process, another one can renew and release them.
#pragma once

#include "serve/acquire_body.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace rowlock::serve {

// One acquisition: the client that made it, the lock, and the id that the client has chosen for it.
struct http_hold_key {
  std::string client;  // principal::name
  std::string name;
  std::string id;

  auto operator<=>(const http_hold_key&) const = default;
};

// What an HTTP client is told of its hold.
struct http_hold {
  fencing_token token;
  hold_id hold;
  std::int64_t weight = 1;
  bool is_shared = false;                   // or counted
  std::chrono::milliseconds expires_in{0};  // at least, when it was made
  std::optional<release_request> request{};
  std::string text{};  // of hold::transfer
};

// Takes the hold from this process, so that the functions below find it by its key, and it lasts for the ttl from now.
// Throws error as hold::transfer. After any error the hold is released, or has been left to the client, which finds it
// when it asks again.
http_hold leave_to_client(hold held, const http_hold_key& key, const acquire_body& asked);

// Extends the hold to its ttl from now. Empty: it is over, or there was none. asked: if it is there, throws
// error(mismatch) for a hold that was acquired with another body. Throws error as rowlock::extend.
std::optional<http_hold> renew(const client& in, const http_hold_key& key,
                               const std::optional<acquire_body>& asked = {});

// Releases the hold of the key. `lost` if it is over, or there was none. text: that of the hold which this process has
// last left to a client for the key; it spares the search for the hold. Throws error as rowlock::release.
release_result release(const client& in, const http_hold_key& key,
                       const std::optional<std::string>& text = {});

}  // namespace rowlock::serve
