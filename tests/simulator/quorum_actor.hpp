// A program with a client of each of several servers, whose users use one quorum_mutex.
#pragma once

#include "simulator/program.hpp"
#include "simulator/quorum_oracle.hpp"

#include <rowlock/quorum_mutex.hpp>

#include <optional>
#include <vector>

namespace rowlock::simulator {

class quorum_actor final : public program {
 public:
  struct member {
    world* where = nullptr;
    oracle* checks = nullptr;
  };

  quorum_actor(const story& plan, int client, process& home, scheduler& runs, recorder& records,
               std::vector<member> members, quorum_oracle& majority, shared_state& shared);

 private:
  void connect() override;
  bool is_connected() const override { return lock_.has_value(); }
  void close() override;
  void act(const operation& one) override;
  bool is_expected(const operation& one, const error& failure) const override;

  quorum_hold acquired(const operation& one);
  void acquire(const operation& one);
  void look_after(const quorum_hold& got, nanoseconds length);
  void say(const quorum_hold& got, const operation& one);
  void release(quorum_hold& got);
  void force(const operation& one);

  std::vector<member> members_;
  quorum_oracle& majority_;
  std::vector<client> clients_;
  std::vector<std::size_t> servers_;  // the server of each client
  std::optional<quorum_mutex> lock_;
};

}  // namespace rowlock::simulator
