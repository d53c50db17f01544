#include "store/mysql/mysql_rows.hpp"

#include <mysql.h>

namespace rowlock::store {

namespace {

MYSQL_RES* handle(const std::shared_ptr<void>& result) {
  return static_cast<MYSQL_RES*>(result.get());
}

}  // namespace

mysql_rows::mysql_rows(void* result) {
  if (result == nullptr) return;
  result_.reset(result, [](void* owned) { mysql_free_result(static_cast<MYSQL_RES*>(owned)); });
  mysql_data_seek(handle(result_), 0);
}

bool mysql_rows::next() {
  row_ = result_ ? mysql_fetch_row(handle(result_)) : nullptr;
  return row_ != nullptr;
}

int mysql_rows::columns() const {
  return static_cast<int>(mysql_num_fields(handle(result_)));
}

std::string_view mysql_rows::column_name(int index) const {
  const auto* field = mysql_fetch_field_direct(handle(result_), static_cast<unsigned>(index));
  return {field->name, field->name_length};
}

std::string_view mysql_rows::text_at(int index) const {
  if (null_at(index)) return {};
  return {row_[index], mysql_fetch_lengths(handle(result_))[index]};
}

}  // namespace rowlock::store
