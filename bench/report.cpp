#include "bench/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <thread>

namespace rowlock::bench {

namespace {

// Rounds to four significant digits: a measurement on a shared machine has no more.
double rounded(double value) {
  if (value == 0 || std::abs(value) >= 1000) return std::round(value);
  double scale = std::pow(10.0, 3 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return std::round(value * scale) / scale;
}

nlohmann::ordered_json rounded(nlohmann::ordered_json json) {
  if (json.is_number_float()) return rounded(json.get<double>());
  if (json.is_structured()) {
    for (auto& element : json) element = rounded(element);
  }
  return json;
}

// The machine's load: if it is busy with something else, the ratios mean little.
std::string load() {
  double average = 0;
  getloadavg(&average, 1);
  return fmt::format("{:.1f} on {} processors", average, std::thread::hardware_concurrency());
}

nlohmann::ordered_json as_object(const result& one) {
  auto object = nlohmann::ordered_json::object();
  object["scenario"] = one.scenario;
  object["threads"] = one.threads;
  object["unit"] = one.unit;
  object["rowlock"] = one.rowlock;
  object["floor"] = one.floor;
  object["ratio"] = one.ratio();
  object["durability"] = one.durability;
  object.update(one.details);
  object["load"] = load();
  return rounded(object);
}

}  // namespace

std::string as_table(const std::vector<result>& results) {
  std::string text = fmt::format("{:<12} {:>7} {:>12} {:>12} {:>8}  {}\n", "scenario", "threads", "rowlock",
                                 "floor", "ratio", "unit");
  for (const result& one : results) {
    text += fmt::format("{:<12} {:>7} {:>12} {:>12} {:>8}  {}\n", one.scenario, one.threads,
                        rounded(one.rowlock), rounded(one.floor), rounded(one.ratio()), one.unit);
    for (const auto& [key, value] : one.details.items()) {
      std::string shown = value.is_string() ? value.get<std::string>() : rounded(value).dump();
      text += fmt::format("  {}: {}\n", key, shown);
    }
  }
  if (!results.empty()) {
    text += fmt::format("durability: {}\nload: {}\n", results.front().durability, load());
  }
  return text;
}

std::string as_json(const std::vector<result>& results) {
  std::string text = "[";
  for (const result& one : results) text += (text.size() > 1 ? ",\n " : "") + as_object(one).dump();
  return text + "]\n";
}

}  // namespace rowlock::bench
