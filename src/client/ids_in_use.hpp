// The hold ids of this client's requests, from before a request is sent until nobody follows it any more.
// What the database has under any other id belongs to nobody, unless a registered hold has that id.
#pragma once

#include "model/ids.hpp"

#include <rowlock/config.hpp>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe.
class ids_in_use {
  struct table {
    std::mutex mutex;
    std::unordered_map<model::hold_id, int> counts;
  };

 public:
  // Keeps one id in use. May outlive the client.
  class mark {
   public:
    mark() = default;
    mark(mark&& other) noexcept : id_(other.id_), table_(std::move(other.table_)) {}
    mark& operator=(mark&& other) noexcept {
      std::swap(id_, other.id_);
      std::swap(table_, other.table_);
      return *this;
    }
    ~mark() {
      if (!table_) return;
      const std::lock_guard lock{table_->mutex};
      const auto found = table_->counts.find(id_);
      if (--found->second == 0) table_->counts.erase(found);
    }

    bool is_of(model::hold_id id) const noexcept { return table_ && id_ == id; }

   private:
    friend class ids_in_use;
    mark(model::hold_id id, std::shared_ptr<table> in) : id_(id), table_(std::move(in)) {}

    model::hold_id id_;
    std::shared_ptr<table> table_;
  };

  [[nodiscard]] mark use(model::hold_id id) {
    const std::lock_guard lock{table_->mutex};
    ++table_->counts[id];
    return {id, table_};
  }

  bool contains(model::hold_id id) const {
    const std::lock_guard lock{table_->mutex};
    return table_->counts.contains(id);
  }

 private:
  const std::shared_ptr<table> table_ = std::make_shared<table>();
};

}  // namespace rowlock::client_layer
