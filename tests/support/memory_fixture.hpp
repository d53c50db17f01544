// The memory store as a fixture. Tests that inject faults use its server directly.
#pragma once

#include "memory/memory_server.hpp"
#include "support/store_fixture.hpp"

namespace rowlock::test {

class memory_fixture final : public store_fixture {
 public:
  bool can(capability what) const override;
  std::unique_ptr<store::database> open() override { return server_->open(); }

  void expire(const model::lease_id& lease, std::chrono::microseconds ago) override;
  void age(const std::string& name, std::chrono::microseconds unused_for) override;
  void make_unknown(const std::string& name) override { server_->make_unknown(name); }
  void delete_lock(const std::string& name) override {
    server_->advance(std::chrono::milliseconds{1});  // the clock stands still, and nobody deletes that fast
    server_->delete_lock(name);
  }
  rival lock_row(const std::string& name) override;
  rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) override;
  rival stall_renewals() override;
  void lose_marker() override { server_->lose_marker(); }
  void change_identity() override { server_->change_identity("memory/" + std::to_string(++identities_)); }

  store::memory_server& server() { return *server_; }

 private:
  int identities_ = 1;
  std::shared_ptr<store::memory_server> server_ = store::memory_server::create();
};

}  // namespace rowlock::test
