// Fields of a result as values of the model.
#pragma once

#include "model/ids.hpp"
#include "store/postgres/pqxx_compat.hpp"
#include "store/store.hpp"

#include <optional>

namespace rowlock::store {

template <class Id>
Id id_of(const pqxx::field& field) {
  return Id::parse(field.c_str());
}

template <class Id>
std::optional<Id> optional_id_of(const pqxx::field& field) {
  if (field.is_null()) return {};
  return Id::parse(field.c_str());
}

inline std::int64_t integer_of(const pqxx::field& field) {
  return field.as<std::int64_t>();
}

// PostgreSQL's own t and f.
inline bool bool_of(const pqxx::field& field) {
  return field.c_str()[0] == 't';
}

// identity, recorded_identity, epoch_floor, marker, skew_ms: of read_database_state and renew.
inline database_state world_of(const pqxx::row& row) {
  return {.identity = row[0].c_str(),
          .recorded_identity = row[1].c_str(),
          .epoch = model::epoch_of(integer_of(row[2])),
          .skew = std::chrono::milliseconds{integer_of(row[4])},
          .marker = row[3].c_str()};
}

}  // namespace rowlock::store
