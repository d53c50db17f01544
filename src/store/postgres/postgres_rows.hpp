// The result of a statement.
#pragma once

#include "store/rows.hpp"

#include <pqxx/pqxx>

#include <utility>

namespace rowlock::store {

class postgres_rows final : public rows {
 public:
  explicit postgres_rows(pqxx::result result) : result_{std::move(result)} {}

  bool next() override { return ++row_ < static_cast<int>(result_.size()); }
  bool empty() const { return result_.empty(); }
  // How many rows the statement wrote.
  std::int64_t affected() const { return static_cast<std::int64_t>(result_.affected_rows()); }

 private:
  using row_number = pqxx::result::size_type;
  using column_number = pqxx::row::size_type;

  auto field(int index) const {  // since libpqxx 8 a field_ref
    return result_[static_cast<row_number>(row_)][static_cast<column_number>(index)];
  }
  int columns() const override { return static_cast<int>(result_.columns()); }
  std::string_view column_name(int index) const override {
    return result_.column_name(static_cast<column_number>(index));
  }
  bool null_at(int index) const override { return field(index).is_null(); }
  std::string_view text_at(int index) const override {
    const auto found = field(index);
    return {found.c_str(), found.size()};
  }
  // PostgreSQL writes a boolean as t or f.
  bool boolean_at(int index) const override { return text_at(index) == "t"; }

  pqxx::result result_;
  int row_ = -1;
};

}  // namespace rowlock::store
