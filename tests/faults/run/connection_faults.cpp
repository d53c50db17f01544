#include "fault.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

namespace rowlock::test {

namespace {

const std::vector<std::string> servers{"postgres", "mariadb", "mysql"};

// Carries bytes in that way for that time.
std::int64_t carry(scene& now, carrying how, std::chrono::milliseconds time) {
  auto& proxy = now.where.proxy();
  proxy.carry(how);
  pause(time);
  proxy.carry(carrying::all);
  return history_recorder::now();
}

// A connection that lost bytes is of no use afterwards.
std::int64_t carry_nothing(scene& now, carrying how) {
  const auto ended = carry(now, how, now.any(now.ttl / 2, now.ttl * 3 / 2));
  now.where.proxy().cut();
  return ended;
}

std::int64_t cut(scene& now) {
  for (int round = 0; round < 4; ++round) {
    now.where.proxy().cut();
    pause(now.any(0ms, 100ms));
  }
  return history_recorder::now();
}

std::int64_t half_close(scene& now) {
  for (int round = 0; round < 4; ++round) {
    now.where.proxy().half_close();
    pause(now.any(0ms, 100ms));
  }
  return history_recorder::now();
}

std::int64_t restart_pooler(scene& now) {
  begin_step("end the pooler");
  // Since version 1.23 a pooler that gets SIGTERM waits until its clients have left.
  now.where.pooler().end(now.random() % 2 == 0 ? SIGKILL : SIGQUIT);
  pause(now.any(0ms, now.ttl));
  now.where.pooler().start();
  return history_recorder::now();
}

}  // namespace

std::vector<fault> connection_faults() {
  return {
      {"network-slow", "each part of what is sent, both ways, arrives 10 to 80 ms late", servers, true,
       [](scene& now) { return carry(now, carrying::late, now.any(now.ttl / 2, now.ttl * 3 / 2)); }},
      {"network-cut", "all connections are cut, several times", servers, true, cut},
      {"network-half-closed", "all connections are closed in one direction, several times", servers, true,
       half_close},
      {"requests-vanish", "what clients send does not arrive; then the connections are cut", servers, true,
       [](scene& now) { return carry_nothing(now, carrying::nothing_up); }},
      {"replies-vanish", "what the server sends does not arrive; then the connections are cut", servers, true,
       [](scene& now) { return carry_nothing(now, carrying::nothing_down); }},
      {"reply-lost", "replies, those to `COMMIT` first of all, are lost together with their connection",
       servers, true, [](scene& now) { return carry(now, carrying::lose_a_reply, now.any(200ms, 800ms)); }},
      {"pooler-restarted",
       "PgBouncer (`pool_mode = transaction`) is ended with SIGKILL or SIGTERM, and started again",
       {"postgres"},
       true,
       restart_pooler,
       {},
       equipment::pooler},
  };
}

}  // namespace rowlock::test
