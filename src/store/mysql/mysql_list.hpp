// Literals of SQL: for free text, which no character set may change, and for batches, because literals cost
// half as much as a JSON_TABLE.
#pragma once

#include "model/text.hpp"
#include "store/mysql/mysql_connection.hpp"
#include "store/sql_value.hpp"
#include "store/store.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rowlock::store {

// A literal of SQL.
inline std::string mysql_literal(std::string_view bytes) {
  std::string result = "X'";
  model::append_hex(result, bytes);
  return result + '\'';
}
inline std::string mysql_literal(std::int64_t number) {
  return std::to_string(number);
}
template <class Id>
requires requires(const Id& id) {
  id.to_string();
}
std::string mysql_literal(const Id& id) {
  return "X'" + id.to_string() + '\'';
}

// Free text (a name, a host, a reason) as the value of :name in a statement. Its bytes arrive unchanged,
// whatever the connection's character set and collation are.
inline mysql_value mysql_text(std::string name, std::string_view bytes) {
  return {std::move(name), mysql_literals{mysql_literal(bytes)}};
}

inline mysql_values as_mysql(sql_values values) {
  mysql_values result;
  for (const auto& [name, value] : values) {
    auto literal = std::visit([](const auto& one) { return mysql_literal(one); }, value);
    result.push_back({std::string{name}, mysql_literals{std::move(literal)}});
  }
  return result;
}

// The values of the statements for a single request.
inline mysql_values request_values(const acquire_item& request) {
  return {mysql_text("name", request.name), {"kind", to_string(request.kind)}, {"capacity", request.capacity},
          {"fair", request.fair},           {"lease", request.lease},          {"hold", request.hold}};
}
inline mysql_values request_values(const release_item& request) {
  return {mysql_text("name", request.name), {"lease", request.lease}, {"hold", request.hold}};
}

// value, value, ...
class mysql_list {
 public:
  void add(const std::string& value) {
    if (!text_.empty()) text_ += ',';
    text_ += value;
  }

  operator mysql_literals() const { return {text_}; }

 private:
  std::string text_;
};

// A value for each name: one literal if all are the same, as they mostly are, else CASE name WHEN ... END.
class mysql_choice {
 public:
  void add(const std::string& name, const std::string& value) {
    if (cases_.empty()) first_ = value;
    differ_ = differ_ || value != first_;
    cases_ += " WHEN " + name + " THEN " + value;
  }

  operator mysql_literals() const { return {differ_ ? "CASE name" + cases_ + " END" : first_}; }

 private:
  std::string first_;
  std::string cases_;
  bool differ_ = false;
};

}  // namespace rowlock::store
