#include "serve/readiness.hpp"

#include "serve/as_error.hpp"

#include <rowlock/migrate.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;
constexpr auto valid_for = 1s;
constexpr auto patience = 2s;

std::optional<error> problem_of(database& db) {
  try {
    db.call("epoch", [](const client& connected) { (void)admin{connected}.epoch(); });
    const int version = db.schema_version();
    if (version >= required_schema_version()) return {};
    return error(errc::not_migrated,
                 fmt::format("the schema has version {}, and this rowlock needs {}; run: rowlock migrate up",
                             version, required_schema_version()));
  } catch (const std::exception& problem) {
    return as_error(problem);
  }
}

}  // namespace

response readiness::response_of(const finding& found, bool sees_text) {
  if (!found.problem) return json_response(200, {{"ready", true}});
  nlohmann::ordered_json why{{"code", to_string(found.problem->kind())}};
  if (sees_text) why["message"] = found.problem->what();
  return json_response(503, {{"ready", false}, {"error", why}});
}

void readiness::answer(const request& from, const reply& to) {
  const bool sees_text = from.caller.has(role::read);
  {
    const model::annotated_lock lock{mutex_};
    const auto now = clock::now();
    if (latest_ && now - latest_->at < valid_for) return to.send(response_of(*latest_, sees_text));
    if (checking_since_ && now - *checking_since_ > patience) {
      const finding silent{error(errc::unreachable, "the database has not answered for two seconds"), now};
      return to.send(response_of(silent, sees_text));
    }
    waiting_.push_back({to, sees_text});
    if (checking_since_) return;
    const bool is_posted = pool_.post([this] { publish(problem_of(db_)); });
    checking_since_ = now;  // not before post(), which may throw
    if (is_posted) return;
  }
  publish(error(errc::unreachable, "too many requests wait for the database"));
}

void readiness::publish(std::optional<error> problem) {
  const finding found{std::move(problem), clock::now()};
  const model::annotated_lock lock{mutex_};
  checking_since_.reset();
  const auto waiting = std::exchange(waiting_, {});
  latest_ = found;
  for (const auto& one : waiting) one.to.send(response_of(found, one.sees_text));
}

}  // namespace rowlock::serve
