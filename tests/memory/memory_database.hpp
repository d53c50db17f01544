// A client's view of a memory_server.
#pragma once

#include "memory/memory_server.hpp"
#include "store/store.hpp"

#include <memory>

namespace rowlock::store {

class memory_database final : public database {
 public:
  explicit memory_database(std::shared_ptr<memory_server> server);

  std::unique_ptr<session> connect(connect_watch& watch) override;
  std::string_view dialect() const noexcept override { return "memory"; }
  bool must_poll() const noexcept override;
  // There is no SQL; memory_server::guard is the guard.
  std::string guard_sql(model::lock_mode) const override { return {}; }

 private:
  std::shared_ptr<memory_server> server_;
};

}  // namespace rowlock::store
