// The result of a statement, as the client library keeps it.
#pragma once

#include "store/rows.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace rowlock::store {

class mysql_rows final : public rows {
 public:
  mysql_rows() = default;  // no rows
  // result: a MYSQL_RES, null for a statement without rows.
  explicit mysql_rows(void* result);

  bool next() override;
  // Whether the statement returns rows, even if there are none now.
  bool is_result() const noexcept { return result_ != nullptr; }

 private:
  int columns() const override;
  std::string_view column_name(int index) const override;
  bool null_at(int index) const override { return row_[index] == nullptr; }
  std::string_view text_at(int index) const override;

  std::shared_ptr<void> result_;
  char** row_ = nullptr;
};

}  // namespace rowlock::store
