// The rows of a query's result, one at a time, with columns by name; the same for all dialects.
#pragma once

#include "model/for_stores.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

// Begins before the first row. Columns have names, or numbers from 0 if a statement returns a single one. An
// unknown name throws error(internal).
class ROWLOCK_FOR_STORES rows {
 public:
  virtual ~rows() = default;

  // Goes to the next row. Returns false if there is none.
  virtual bool next() = 0;

  template <class Column>
  bool null(const Column& column) const {
    return null_at(at(column));
  }
  template <class Column>
  std::int64_t integer(const Column& column) const {
    return integer_at(at(column));
  }
  template <class Column>
  bool boolean(const Column& column) const {
    return boolean_at(at(column));
  }
  // Empty for NULL.
  template <class Column>
  std::string text(const Column& column) const {
    return std::string{text_at(at(column))};
  }
  // As text(), without a copy. Valid until the next row.
  template <class Column>
  std::string_view view(const Column& column) const {
    return text_at(at(column));
  }
  template <class Id, class Column>
  Id id(const Column& column) const {
    return Id::parse(view(column));
  }
  template <class Id, class Column>
  std::optional<Id> optional_id(const Column& column) const {
    const int index = at(column);
    if (null_at(index)) return {};
    return Id::parse(text_at(index));
  }
  template <class Column>
  std::chrono::microseconds microseconds(const Column& column) const {
    return std::chrono::microseconds{integer(column)};
  }
  template <class Column>
  std::chrono::milliseconds milliseconds(const Column& column) const {
    return std::chrono::milliseconds{integer(column)};
  }
  // A time span that is only displayed. A dialect whose statements do not give milliseconds overrides this.
  virtual std::chrono::milliseconds shown_time(std::string_view column) const { return milliseconds(column); }

 protected:
  rows() = default;
  rows(const rows&) = default;
  rows(rows&&) = default;
  rows& operator=(const rows&) = default;
  rows& operator=(rows&&) = default;

  virtual int columns() const = 0;
  virtual std::string_view column_name(int index) const = 0;
  virtual bool null_at(int index) const = 0;
  virtual std::string_view text_at(int index) const = 0;
  // A whole number may be written with a point, as in 7.0000.
  virtual std::int64_t integer_at(int index) const;
  virtual bool boolean_at(int index) const { return !null_at(index) && integer_at(index) != 0; }

 private:
  static int at(int index) { return index; }
  int at(std::string_view column) const;

  mutable int next_ = 0;  // where at() looks first, because callers mostly read the columns in order
};

using rows_reader = std::function<void(rows&&)>;

}  // namespace rowlock::store
