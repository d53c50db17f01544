#include "store/rows.hpp"

#include <rowlock/error.hpp>

#include <charconv>

namespace rowlock::store {

std::int64_t rows::integer_at(int index) const {
  std::int64_t value = 0;
  const auto text = text_at(index);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int rows::at(std::string_view column) const {
  const int count = columns();
  for (int tried = 0; tried < count; ++tried) {
    const int index = (next_ + tried) % count;
    if (column_name(index) != column) continue;
    next_ = index + 1;
    return index;
  }
  throw error(errc::internal, "a statement returns no column " + std::string{column});
}

}  // namespace rowlock::store
