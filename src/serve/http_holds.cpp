#include "serve/http_holds.hpp"

#include "serve/digest.hpp"

#include <rowlock/adopt.hpp>
#include <rowlock/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace rowlock::serve {

namespace {

using json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

// The id is all that another program with the same token needs to act as this client, and everybody who may read the
// locks sees the data of a hold. So the data contain only the digest of the id.
//
// text: of hold::transfer. The data contain the id of the hold, so that a copy of them on another hold is recognized.
std::string data_of(const http_hold_key& key, hold_id hold, const acquire_body& asked,
                    const std::string& text) {
  const json data{{"http_client", key.client},
                  {"id_sha256", digest_of(key.id)},
                  {"hold_id", hold.to_string()},
                  {"asked", asked.to_json()},
                  {"text", text}};
  return data.dump();
}

struct found_hold {
  holder_info holder;
  std::string text;
  json asked;  // acquire_body::to_json()
  milliseconds ttl;
};

// Empty: it is no hold of this key.
std::optional<found_hold> hold_of(const http_hold_key& key, const std::string& digest,
                                  const holder_info& holder) {
  if (holder.data.find(digest) == std::string::npos)
    return {};  // spares most of a semaphore's holders the parsing
  const auto data = json::parse(holder.data, nullptr, false);
  const auto has = [&](const char* member, const std::string& value) {
    return data.contains(member) && data[member] == value;
  };
  if (!data.is_object() || !has("http_client", key.client) || !has("id_sha256", digest)) return {};
  if (!has("hold_id", holder.hold_id.to_string())) return {};
  // A later version may have asked for more than this one knows, but for a ttl in any case.
  const json::json_pointer ttl{"/asked/ttl_ms"};
  if (!data.contains("text") || !data["text"].is_string()) return {};
  if (!data.contains(ttl) || !data[ttl].is_number_integer()) return {};
  return found_hold{holder, data["text"].get<std::string>(), data["asked"],
                    milliseconds{data[ttl].get<std::int64_t>()}};
}

struct found_holds {
  std::vector<found_hold> all;  // by token
  std::optional<release_request> request;
};

// The holds of the key: usually one. If a client has lost its connection and asks another server while the first one is
// being granted permits for it, both grants have the same key; then all of them are renewed and released alike.
found_holds find(const client& in, const http_hold_key& key) {
  found_holds found;
  const auto lock = admin{in}.show(key.name);
  if (!lock) return found;
  const auto digest = digest_of(key.id);
  for (const auto& holder : lock->holders) {
    if (auto one = hold_of(key, digest, holder)) found.all.push_back(std::move(*one));
  }
  std::ranges::sort(found.all, {}, [](const found_hold& one) { return one.holder.token; });
  found.request = lock->request;
  return found;
}

milliseconds left_of(milliseconds ttl, clock::time_point since) {
  const auto used = std::chrono::ceil<milliseconds>(clock::now() - since);
  return std::max(ttl - used, milliseconds{0});
}

}  // namespace

http_hold leave_to_client(hold held, const http_hold_key& key, const acquire_body& asked) {
  http_hold left{
      .token = held.token(), .hold = held.id(), .weight = held.weight(), .is_shared = asked.is_shared()};
  const auto began = clock::now();
  // From its commit on the hold can be found by its key, and it stands on a lease that this process never ends.
  left.text =
      held.transfer(asked.ttl, [&](const std::string& text) { return data_of(key, left.hold, asked, text); });
  left.expires_in = left_of(asked.ttl, began);
  return left;
}

std::optional<http_hold> renew(const client& in, const http_hold_key& key,
                               const std::optional<acquire_body>& asked) {
  const auto found = find(in, key);
  std::optional<http_hold> latest;
  for (const auto& one : found.all) {
    if (asked && one.asked != asked->to_json()) {
      throw error(errc::mismatch, "this hold was acquired with another body; make a new id for each hold");
    }
    const auto began = clock::now();
    if (!extend(in, one.text)) continue;
    latest = http_hold{.token = one.holder.token,
                       .hold = one.holder.hold_id,
                       .weight = one.holder.weight,
                       .is_shared = one.holder.mode == lock_mode::shared,
                       .expires_in = left_of(one.ttl, began),
                       .request = found.request};
  }
  return latest;
}

release_result release(const client& in, const http_hold_key& key, const std::optional<std::string>& text) {
  if (text) {
    if (const auto result = rowlock::release(in, *text); result != release_result::lost) return result;
  }
  std::optional<release_result> worst;
  for (const auto& one : find(in, key).all) {
    const auto result = rowlock::release(in, one.text);
    worst =
        worst ? std::max(*worst, result) : result;  // `released` is the first of them, and `unknown` the last
  }
  return worst.value_or(release_result::lost);
}

}  // namespace rowlock::serve
