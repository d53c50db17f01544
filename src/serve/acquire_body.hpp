// What an HTTP client wants: the body of a request that acquires a lock.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rowlock::serve {

struct acquire_body {
  enum class kind { mutex, read, write, permits };

  kind what = kind::mutex;
  std::chrono::milliseconds ttl{0};
  std::chrono::milliseconds wait{0};
  std::int64_t permits = 1;
  std::int64_t capacity = 0;
  std::chrono::milliseconds delay{0};
  bool fair = true;
  std::string data{};

  // Throws error(invalid_argument), also for a member that is not known.
  static acquire_body parse(const nlohmann::json& body);
  // This request as JSON, without the wait, which says nothing about the hold.
  nlohmann::ordered_json to_json() const;

  bool is_shared() const noexcept { return what == kind::read || what == kind::permits; }

  bool operator==(const acquire_body&) const = default;
};

}  // namespace rowlock::serve
