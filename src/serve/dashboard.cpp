#include "serve/dashboard.hpp"

#include "cli/output.hpp"
#include "cli/text.hpp"
#include "serve/as_error.hpp"
#include "store/embedded.hpp"

#include <rowlock/counting_semaphore.hpp>
#include <rowlock/migrate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace rowlock::embedded {

std::span<const file> dashboard_files();

}  // namespace rowlock::embedded

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;
using cli::json;

constexpr std::size_t action_threads = 8;
constexpr std::size_t waiting_actions = 8;
constexpr std::size_t most_rows = 1000;
constexpr std::size_t most_contended = 100;
constexpr std::size_t most_drawn_waiters = 50;

void send_file(const embedded::file& file, const request& from, const reply& to) {
  const auto type = file.name.ends_with(".js")    ? "text/javascript; charset=utf-8"
                    : file.name.ends_with(".css") ? "text/css; charset=utf-8"
                    : file.name.ends_with(".svg") ? "image/svg+xml"
                                                  : "text/html; charset=utf-8";
  const auto tag = fmt::format("\"{}\"", file.checksum.substr(0, 32));
  response answer{.type = type};
  answer.headers = {
      {"Cache-Control", "no-cache"},
      {"ETag", tag},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}};
  const auto known = from.headers.find("if-none-match");
  if (known != from.headers.end() && known->second == tag) {
    answer.status = 304;
  } else {
    answer.body = file.text;
  }
  to.send(std::move(answer));
}

// The decoded value of a parameter in the URL; else the default.
std::string parameter(const request& from, std::string_view name, std::string otherwise) {
  std::string_view rest = from.query;
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (one.substr(0, one.find('=')) != name || one.find('=') == one.npos) continue;
    if (auto value = percent_decoded(one.substr(one.find('=') + 1))) return *value;
    throw error(errc::invalid_argument, fmt::format("the parameter {} is not well encoded", name));
  }
  return otherwise;
}

std::size_t limit_of(const request& from, std::size_t usual) {
  const auto text = parameter(from, "limit", std::to_string(usual));
  std::size_t limit = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (failed != std::errc{} || end != text.data() + text.size() || limit < 1 || limit > most_rows) {
    throw error(errc::invalid_argument, fmt::format("limit is a number from 1 to {}", most_rows));
  }
  return limit;
}

// A lock with so many holders as fit, and how many there are.
json with_holders(const lock_info& lock, std::size_t most) {
  auto shortened = lock;
  if (shortened.holders.size() > most) shortened.holders.resize(most);
  auto shown = cli::to_json(shortened);
  shown["holder_count"] = lock.holders.size();
  return shown;
}

// Whether the board shows what comes next after the name: it has all locks, or at least one after the name.
bool has_after(const board_state& now, const std::string& after) {
  return !now.is_cut || (!now.locks.empty() && after < now.locks.back().name);
}

json waiters_of(const std::vector<waiter_info>& all, std::size_t most) {
  auto shown = json::array();
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) shown.push_back(cli::to_json(all[i]));
  return shown;
}

nlohmann::json body_of(const request& from) {
  auto body = json_body(from);
  const auto reason = body.find("reason");
  if (reason == body.end() || !reason->is_string() || reason->get_ref<const std::string&>().empty()) {
    throw error(errc::invalid_argument, "the body has a text as its \"reason\"");
  }
  return body;
}

std::string ask_for_release(const client& in, const request& from, const nlohmann::json& body,
                            const std::stop_token& stop) {
  const std::chrono::milliseconds within{
      body.contains("within_ms") ? whole_number(body, "within_ms", 0, 60'000) : 10'000};
  return to_string(admin{in}.request_release(
      from.words.at("name"), {.reason = body["reason"].get<std::string>(), .within = within, .stop = stop}));
}

std::string force(const client& in, const request& from, const nlohmann::json& body, const std::stop_token&) {
  std::optional<hold_id> only;
  if (body.contains("hold_id")) {
    if (!body["hold_id"].is_string()) throw error(errc::invalid_argument, "\"hold_id\" is a text");
    only = hold_id::parse(body["hold_id"].get<std::string>());
  }
  return admin{in}.release(from.words.at("name"), only) ? "forced" : "unheld";
}

std::string resize(const client& in, const request& from, const nlohmann::json& body,
                   const std::stop_token&) {
  const auto& name = from.words.at("name");
  const auto capacity = whole_number(body, "capacity", 0, 1'000'000'000);
  const auto known = admin{in}.show(name);
  if (!known || known->kind != lock_kind::semaphore) {
    throw error(errc::mismatch, "this is no semaphore; no other lock has a capacity that can be changed");
  }
  counting_semaphore{in, name, known->capacity, {.fair = known->fair}}.resize(capacity);
  return "resized";
}

}  // namespace

dashboard::dashboard(const environment& in)
    : in_{in}, asking_{action_threads, waiting_actions}, actions_{action_threads, waiting_actions} {}

void dashboard::add_routes(router& to) {
  for (const auto& file : embedded::dashboard_files()) {
    const auto path = file.name == "index.html" ? std::string{"/"} : fmt::format("/dashboard/{}", file.name);
    to.add("GET", path, {},
           [&file](const request& from, const reply& answer) { send_file(file, from, answer); });
  }
  add_readings(to);
  add_action(to, "release-request", asking_, ask_for_release);
  add_action(to, "force", actions_, force);
  add_action(to, "resize", actions_, resize);
}

void dashboard::add_readings(router& to) {
  to.add("GET", "/api/whoami", role::read, [this](const request& from, const reply& answer) {
    auto roles = json::array();
    for (const auto one : {role::read, role::lock, role::operate}) {
      if (from.caller.has(one)) roles.push_back(to_string(one));
    }
    answer.send(
        json_response(200, {{"name", from.caller.name}, {"roles", roles}, {"may_write", in_.may_write}}));
  });
  to.add("GET", "/api/events", role::read,
         [this](const request& from, const reply& answer) { board_.subscribe(from, answer); });
  to.add("GET", "/api/locks", role::read,
         [this](const request& from, const reply& answer) { list(from, answer); });
  to.add("GET", "/api/graph", role::read, [this](const request&, const reply& answer) { graph(answer); });
  to.add("GET", "/api/health", role::read, [this](const request&, const reply& answer) {
    readings_.answer(
        "health", 30s, [this] { return health(); }, answer);
  });
  to.add("GET", "/api/locks/{name}", role::read, [this](const request& from, const reply& answer) {
    const auto& name = from.words.at("name");
    readings_.answer(
        "lock " + name, 1s, [this, name] { return show(name); }, answer);
  });
  to.add("GET", "/api/locks/{name}/history", role::read, [this](const request& from, const reply& answer) {
    const auto& name = from.words.at("name");
    const auto limit = limit_of(from, 100);
    readings_.answer(
        fmt::format("history {} {}", limit, name), 1s, [this, name, limit] { return history(name, limit); },
        answer);
  });
}

void dashboard::add_action(router& to, const std::string& verb, workers& by, action act) {
  to.add(
      "POST", "/api/locks/{name}/" + verb, role::operate,
      [this, verb, &by, act = std::move(act)](const request& from, const reply& answer) {
        auto job = [this, verb, act, from, answer, body = body_of(from)] {
          std::string result;
          try {
            if (answer.over().stop_requested()) {
              throw error(errc::cancelled,
                          "not done: the client had gone before it began, or the server ends");
            }
            in_.db.call(verb.c_str(), [&](const client& in) { result = act(in, from, body, answer.over()); });
            answer.send(json_response(200, {{"result", result}}));
          } catch (const std::exception& problem) {
            result = problem.what();
            answer.send(error_response(as_error(problem)));
          }
          in_.note(
              cli::printable(fmt::format("{}: {} of '{}', because {}: {}", from.caller.name, verb,
                                         from.words.at("name"), body["reason"].get<std::string>(), result)));
        };
        if (by.post(std::move(job))) return;
        answer.send(error_response(503, "busy", "too many actions are under way; try again later"));
      });
}

void dashboard::list(const request& from, const reply& to) {
  const auto after = parameter(from, "after", "");
  const auto limit = limit_of(from, most_rows);
  board_.ask([this, after, limit, to](const lock_board::state& now) {
    if (now->problem) return to.send(error_response(*now->problem));
    // A page that is made from the board alone is not kept: it may be large, and the board can make it again. A page
    // that must be read from the database is kept for a second.
    readings_.answer(
        fmt::format("locks {} {} {}", now->version, limit, after), has_after(*now, after) ? 0s : 1s,
        [this, now, after, limit] { return page_of(*now, after, limit); }, to);
  });
}

// The locks that come after the name `after`. If the board ends before them, they are read from the database.
response dashboard::page_of(const board_state& now, const std::string& after, std::size_t limit) {
  auto begin = std::ranges::upper_bound(now.locks, after, {}, &lock_info::name);
  auto end = now.locks.end();
  const bool is_kept = has_after(now, after);
  std::vector<lock_info> read;
  if (!is_kept) {
    in_.db.call("list", [&](const client& in) { read = admin{in}.list(after, limit); });
    begin = read.begin();
    end = read.end();
  }
  auto locks = json::array();
  for (; begin != end && locks.size() < limit; ++begin) locks.push_back(with_holders(*begin, 3));
  const bool is_last = locks.size() < limit && !(is_kept && now.is_cut);
  return json_response(200, {{"version", is_kept ? now.version : 0},
                             {"is_cut", now.is_cut},
                             {"is_last", is_last},
                             {"locks", std::move(locks)}});
}

response dashboard::show(const std::string& name) {
  std::optional<lock_info> lock;
  std::vector<waiter_info> queue;
  in_.db.call("show", [&](const client& in) { lock = admin{in}.show(name); });
  if (!lock) return error_response(404, "not_found", "there is no lock with this name");
  if (lock->waiters > 0) in_.db.call("queue", [&](const client& in) { queue = admin{in}.queue(name); });
  auto shown = with_holders(*lock, most_rows);
  shown["queue"] = waiters_of(queue, most_rows);
  return json_response(200, shown);
}

response dashboard::history(const std::string& name, std::size_t limit) {
  std::vector<history_line> lines;
  in_.db.call("history", [&](const client& in) { lines = admin{in}.history(name, limit); });
  auto shown = json::array();
  for (const auto& line : lines) shown.push_back(cli::to_json(line));
  return json_response(200, {{"lines", shown}});
}

response dashboard::health() {
  std::optional<lock_info> office;
  in_.db.call("show", [&](const client& in) { office = admin{in}.show(in_.upkeep.election); });
  auto upkeep = json::object({{"is_on", in_.upkeep.is_on()},
                              {"leads", in_.done.leads.load()},
                              {"election", in_.upkeep.election},
                              {"leader", nullptr}});
  if (office && !office->holders.empty()) upkeep["leader"] = with_holders(*office, 1)["holders"][0];
  auto findings = json::array();
  for (const auto& one : in_.diagnose()) findings.push_back(cli::to_json(one));
  return json_response(200, {{"schema_version", in_.db.schema_version()},
                             {"schema_version_required", required_schema_version()},
                             {"upkeep", upkeep},
                             {"findings", findings}});
}

void dashboard::graph(const reply& to) {
  board_.ask([this, to](const lock_board::state& now) {
    if (now->problem) return to.send(error_response(*now->problem));
    readings_.answer(
        "graph", 1s, [this, now] { return graph_of(*now); }, to);
  });
}

response dashboard::graph_of(const board_state& now) {
  std::vector<const lock_info*> contended;
  for (const auto& one : now.locks) {
    if (one.waiters > 0) contended.push_back(&one);
  }
  const auto all = contended.size();
  std::ranges::stable_sort(contended, std::ranges::greater{}, &lock_info::waiters);
  if (all > most_contended) contended.resize(most_contended);
  auto locks = json::array();
  for (const auto* one : contended) {
    std::vector<waiter_info> queue;
    in_.db.call("queue", [&](const client& in) { queue = admin{in}.queue(one->name); });
    auto shown = with_holders(*one, most_drawn_waiters);
    shown["queue"] = waiters_of(queue, most_drawn_waiters);
    locks.push_back(std::move(shown));
  }
  auto circles = json::array();
  std::vector<std::vector<stuck_waiter>> found;
  if (!contended.empty()) in_.db.call("cycles", [&](const client& in) { found = admin{in}.cycles(); });
  for (const auto& circle : found) {
    auto members = json::array();
    for (const auto& one : circle) {
      members.push_back({{"waits_for", one.waits_for}, {"waiter", cli::to_json(one.waiter)}});
    }
    circles.push_back(std::move(members));
  }
  return json_response(200, {{"locks", locks}, {"left_out", all - contended.size()}, {"cycles", circles}});
}

}  // namespace rowlock::serve
