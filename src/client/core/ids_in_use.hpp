// The hold ids of this client's requests, from before a request is sent until nothing uses the id any more.
// What the database has under any other id has no owner, unless a registered hold has that id.
#pragma once

#include "model/annotated_mutex.hpp"
#include "model/ids.hpp"

#include <rowlock/config.hpp>

#include <memory>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe.
class ids_in_use {
  struct table {
    model::annotated_mutex mutex;
    std::unordered_map<model::hold_id, int> counts ROWLOCK_GUARDED_BY(mutex);

    // A function of its own, because the thread-safety analysis does not look into ~mark(), which calls it.
    void drop(model::hold_id id) {
      const model::annotated_lock lock{mutex};
      const auto found = counts.find(id);
      if (--found->second == 0) counts.erase(found);
    }
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
      if (table_) table_->drop(id_);
    }

    bool is_of(model::hold_id id) const noexcept { return table_ && id_ == id; }

   private:
    friend class ids_in_use;
    mark(model::hold_id id, std::shared_ptr<table> in) : id_(id), table_(std::move(in)) {}

    model::hold_id id_;
    std::shared_ptr<table> table_;
  };

  [[nodiscard]] mark use(model::hold_id id) {
    const model::annotated_lock lock{table_->mutex};
    ++table_->counts[id];
    return {id, table_};
  }

  bool contains(model::hold_id id) const {
    const model::annotated_lock lock{table_->mutex};
    return table_->counts.contains(id);
  }

 private:
  const std::shared_ptr<table> table_ = std::make_shared<table>();
};

}  // namespace rowlock::client_layer
